"""Counts the words of a text, as the pre-tokenizer of a tokenizer.json cuts them."""
