"""Runs spmcompat and the real library, and compares what they write."""
