"""Tests of the texts that are built from public packages."""

import io
import tarfile
from pathlib import Path

import pytest

from benchmarks import public

CATALOGUE = """msgid ""
msgstr ""
"Language: de\\n"

#: a.py:1
msgid "Open"
msgstr "\\"Öffnen\\""

#: a.py:2
msgid "one\\ntwo"
msgstr ""
"eins\\n"
"zwei"

#: a.py:3
msgid "file"
msgid_plural "files"
msgstr[0] "Datei"
msgstr[1] "Dateien"

#~ msgid "old"
#~ msgstr "alt"
"""


def archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package-1/{name}")
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
    return path


def test_translations_are_taken_from_catalogues() -> None:
    assert list(public.translations(CATALOGUE)) == ['"Öffnen"', "eins\nzwei", "Datei", "Dateien"]


def test_texts_are_built_in_the_order_of_paths(tmp_path: Path) -> None:
    files = {"b.py": "b = 1\n\n", "a.py": "a = 1\n", "po/de.po": CATALOGUE, "docs/x.txt": "Text."}
    public.build([archive(tmp_path / "a.tar.gz", files)], tmp_path)
    texts = {name: (tmp_path / f"public-{name}.txt").read_text("utf-8") for name in public.TEXTS}
    assert texts["python"] == "a = 1\nb = 1\n"
    assert texts["translations"] == '"Öffnen"\neins\nzwei\nDatei\nDateien\n'
    assert texts["documentation"] == "Text.\n"


def test_another_text_is_refused(tmp_path: Path) -> None:
    public.build([archive(tmp_path / "a.tar.gz", {"a.py": "a = 1\n"})], tmp_path)
    with pytest.raises(SystemExit, match="differs from the text that was measured"):
        public.check(tmp_path)
