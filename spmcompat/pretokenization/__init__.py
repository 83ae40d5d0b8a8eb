"""Finds the positions that no piece may cross: the rule of pieces, script runs, pretokenizers."""
