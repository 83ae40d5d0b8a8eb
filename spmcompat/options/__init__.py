"""From flags and keywords to settings, and every check before reading."""
