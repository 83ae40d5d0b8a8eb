"""The command ``spmcompat import``."""
