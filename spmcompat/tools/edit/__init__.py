"""Edits of single pieces of a model."""
