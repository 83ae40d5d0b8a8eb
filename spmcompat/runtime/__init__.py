"""Threads, progress, messages, Ctrl-C, and the output files of commands."""
