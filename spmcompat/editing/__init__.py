"""Changes to a trained model: its pieces, its size, and merging other models into it."""
