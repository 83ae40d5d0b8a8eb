"""The tables of the papers on which the research options are based, repeated on other texts."""
