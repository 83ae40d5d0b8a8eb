"""Each module against the real library or a naive twin, with inputs chosen by Hypothesis."""
