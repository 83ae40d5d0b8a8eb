"""The commands for counts of texts."""
