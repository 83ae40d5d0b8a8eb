"""Behaviour that only the releases before 0.2.3 have."""
