"""Trains with ``sentencepiece`` and with spmcompat, and compares the results."""
