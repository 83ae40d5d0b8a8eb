"""Expectation and maximization."""
