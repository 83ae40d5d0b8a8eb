"""Measurements against the real library and earlier commits; each one first compares bytes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the checkout."""

# An installed spmcompat must win over the source folder, which may hold no compiled modules.
if str(ROOT) in sys.path:
    sys.path.remove(str(ROOT))
    sys.path.append(str(ROOT))
