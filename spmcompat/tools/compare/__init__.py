"""Tokenizers trained in several ways on one text, and a report that sets them side by side."""
