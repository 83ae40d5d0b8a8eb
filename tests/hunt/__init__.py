"""The long search for differences from the real library; see `tests.hunt.__main__`."""
