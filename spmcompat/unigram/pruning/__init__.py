"""Pruning: which pieces are dropped, by each of the criteria."""
