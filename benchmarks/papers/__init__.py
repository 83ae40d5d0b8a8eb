"""The tables of the papers behind the research options, run on other texts."""
