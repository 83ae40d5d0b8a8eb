"""The lattices of all segments, and the passes over them."""
