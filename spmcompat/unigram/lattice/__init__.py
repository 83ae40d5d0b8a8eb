"""The lattices of all distinct segments, and the passes over them."""
