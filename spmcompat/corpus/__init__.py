"""From text to a corpus of distinct words: reading, normalizing, counting, cutting."""
