"""Measures spmcompat against the real library and earlier commits.

Each comparison also checks that both sides write the same bytes.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the checkout."""

# An installed spmcompat has priority over the source folder, which may lack compiled modules.
if str(ROOT) in sys.path:
    sys.path.remove(str(ROOT))
    sys.path.append(str(ROOT))
