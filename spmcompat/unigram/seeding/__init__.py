"""Which pieces EM begins with."""
