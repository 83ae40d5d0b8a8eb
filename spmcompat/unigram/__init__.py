"""The Unigram trainer: one package for each stage, and the pipeline in trainer.py."""
