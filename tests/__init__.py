"""All tests. This is a package, so that ``python -m tests.hunt`` can be run."""
