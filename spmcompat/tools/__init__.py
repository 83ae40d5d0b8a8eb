"""Commands that compare and evaluate models."""
