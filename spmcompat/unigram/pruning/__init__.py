"""Pruning: the choice of the pieces to drop, with one module for each criterion."""
