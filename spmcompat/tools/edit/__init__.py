"""Changes a trained model: its pieces, its size, and other models merged into it."""
