"""Holds trainings against the installed ``sentencepiece``: a tool for users."""
