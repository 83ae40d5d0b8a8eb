"""Which pieces leave."""
