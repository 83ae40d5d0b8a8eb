"""Exports models to the formats of other libraries, verifies the exports, and imports models."""
