"""The BPE trainer: finds merges, and decides whether characters replace the last merges."""
