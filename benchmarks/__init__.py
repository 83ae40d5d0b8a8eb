"""Measurements against the real library and earlier commits; each one first compares bytes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the checkout."""
