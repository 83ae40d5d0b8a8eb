"""Compares modules with the real library or with simple code, on inputs chosen by Hypothesis."""
