"""How a trained model encodes a text, for the samples that it carries to test itself."""
