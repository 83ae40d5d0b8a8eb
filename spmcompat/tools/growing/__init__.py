"""The commands that make a vocabulary larger or smaller."""
