"""Counts the pretokens of sentences."""
