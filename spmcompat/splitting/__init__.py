"""Splitting of text into words, as the expressions of well-known tokenizers and BERT do."""
