"""Code that all commands share, and the command ``spm_train``."""
