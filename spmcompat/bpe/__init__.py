"""The BPE trainer: ``merges.hpp`` merges, ``selection.py`` lets characters compete with merges."""
