"""Data structures that know no text."""
