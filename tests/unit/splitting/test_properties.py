"""The table of classes is that of the engine of tokenizers."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from spmcompat.splitting import derive_properties


def installed() -> str | None:
    try:
        return version("tokenizers")
    except PackageNotFoundError:
        return None


@pytest.mark.slow
@pytest.mark.skipif(
    installed() != derive_properties.VERSION or not derive_properties.TARGET.is_file(),
    reason=f"tokenizers {derive_properties.VERSION} or the C++ sources are not installed",
)
def test_the_derivation_script_finds_the_table_up_to_date() -> None:
    script = [sys.executable, "-m", "spmcompat.splitting.derive_properties", "--check"]
    assert subprocess.run(script, check=False, capture_output=True).returncode == 0
