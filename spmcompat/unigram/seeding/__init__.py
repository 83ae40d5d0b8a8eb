"""Seeding: the pieces that EM starts from."""
