"""Merging of models."""
