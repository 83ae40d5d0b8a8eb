"""Trains the vocabularies of tokenizer.json files, as Hugging Face's trainers do."""
