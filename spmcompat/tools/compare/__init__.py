"""Trains tokenizers in several ways on one text, and writes a report that compares them."""
