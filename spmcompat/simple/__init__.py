"""The word and char trainers: the most frequent words or characters, scored by their share."""
