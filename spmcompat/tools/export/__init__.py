"""Writes models in the formats of other libraries, checks that these agree, and imports models."""
