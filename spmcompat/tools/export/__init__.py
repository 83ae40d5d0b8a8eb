"""The command ``spmcompat export``."""
