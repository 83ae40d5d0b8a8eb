"""Normalization: turns raw text into normalized text."""
