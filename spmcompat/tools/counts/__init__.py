"""The commands that count texts, and merge or show counts."""
