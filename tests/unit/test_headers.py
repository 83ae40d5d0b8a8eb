"""The C++ headers: no two classes have the same name.

Compiled modules include each other's headers, so two classes with the same name would
be undefined behaviour if one module included both.
"""

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "spmcompat"
# A class in a namespace is not indented. A line that ends in a semicolon only declares a class.
CLASS = re.compile(r"^(?:template <.*> )?(?:class|struct|enum(?: class)?) (\w+)\b(?!.*;$)", re.M)


def test_no_two_classes_have_the_same_name() -> None:
    headers = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.hpp")):
        for name in CLASS.findall(path.read_text(encoding="utf-8")):
            headers[name].append(path.relative_to(PACKAGE).as_posix())
    assert "CorpusEncoder" in headers
    assert not {name: paths for name, paths in headers.items() if len(paths) > 1}
