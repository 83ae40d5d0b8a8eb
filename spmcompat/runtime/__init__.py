"""Threads, progress and Ctrl-C."""
