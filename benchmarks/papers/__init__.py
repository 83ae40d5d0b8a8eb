"""The tables of the papers behind the research options, repeated on other texts."""
