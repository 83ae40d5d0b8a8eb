"""Evaluates models on a text."""
