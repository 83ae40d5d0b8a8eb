"""Finds the positions that no piece may cross: by the piece rule, scripts or pretokenizers."""
