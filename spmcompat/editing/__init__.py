"""Changes of a model that is trained: its pieces, its size, and other models merged into it."""
