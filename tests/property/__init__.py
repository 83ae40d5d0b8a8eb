"""Modules compared with the real library or a naive twin, with inputs chosen by Hypothesis."""
