"""The texts to evaluate: files, which may have names, or a table with a column of languages."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

