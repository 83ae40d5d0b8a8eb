"""Shows the contents of a model, and a command that trains a similar model."""
