"""The long search for differences between both sides; see `tests.hunt.__main__`."""
