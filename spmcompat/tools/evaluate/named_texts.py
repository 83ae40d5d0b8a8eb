"""The texts to evaluate: files, which may have names, or a table with a column of languages."""

from __future__ import annotations
