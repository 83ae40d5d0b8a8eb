"""The BPE trainer: merges, and the choice between merges and characters."""
