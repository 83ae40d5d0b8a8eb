"""Measurements against the real library; each one checks first that the bytes are equal."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the checkout."""
