"""Behaviour that only releases before 0.2.3 have."""
