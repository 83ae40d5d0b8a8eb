"""Shows what a model contains, and how to train a similar one."""
