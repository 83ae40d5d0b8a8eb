"""Runs spmcompat and the real library, and compares the files that they write."""
