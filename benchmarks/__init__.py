"""Measurements against the real library; each one checks first that the bytes are equal."""
