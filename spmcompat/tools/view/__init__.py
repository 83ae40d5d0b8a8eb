"""Shows how models cut lines into tokens."""
