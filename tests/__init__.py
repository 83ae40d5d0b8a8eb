"""Tests; a package, so that the harness can also be run as ``python -m tests.hunt``."""
