"""Repeats, on other texts, the tables of the papers on which the research options are based."""
