"""Tools beside the trainers."""
