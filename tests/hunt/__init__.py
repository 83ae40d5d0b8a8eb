"""The long search for differences between the two sides; see `tests.hunt.__main__`."""
