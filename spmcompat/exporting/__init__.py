"""Models in the formats of other libraries, and how far these agree with sentencepiece."""
