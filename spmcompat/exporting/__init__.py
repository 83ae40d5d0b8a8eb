"""Export and import of the formats of other libraries, and comparison with sentencepiece."""
