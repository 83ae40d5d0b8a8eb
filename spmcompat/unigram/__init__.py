"""The Unigram trainer: a module a stage, the pipeline in trainer.py."""
