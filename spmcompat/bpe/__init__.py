"""The BPE trainer: merges in merges.hpp, the choice of characters in selection.py."""
