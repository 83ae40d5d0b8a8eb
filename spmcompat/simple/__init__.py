"""The word and char models: the most frequent words or characters, scored by their share."""
