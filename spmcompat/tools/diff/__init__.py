"""Compares two models and lists their differences."""
