"""Changes trained models: edits pieces, changes the size, and merges models."""
