"""Arguments of the wrong type: the error names the argument and shows the value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import BadValueError, TrainingError


@pytest.mark.parametrize("value", [[1], ["<a>", None], [b"<a>"], b"<a>", 1, [["<a>"]]], ids=repr)
@pytest.mark.parametrize("name", ["input", "control_symbols", "user_defined_symbols"])
def test_a_list_of_texts_with_another_item(name: str, value: object, tmp_path: Path) -> None:
    options = {"sentence_iterator": ["a b"]} if name != "input" else {}
    with pytest.raises(BadValueError, match=f"^{name} takes a text or a path"):
        spmcompat.train(**options, **{name: value}, model_prefix=tmp_path / "m")  # type: ignore[arg-type]
    with pytest.raises(BadValueError, match=f"^{name} takes a text or a path"):
        spmcompat.count(**options, **{name: value})  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_models_of_another_type() -> None:
    with pytest.raises(BadValueError, match=r"^models takes a text or a path"):
        spmcompat.merge(["m.model", 1])  # type: ignore[list-item]


@pytest.mark.parametrize("symbol", ["", "\0", "\0a"])
@pytest.mark.parametrize("name", ["control_symbols", "user_defined_symbols"])
def test_a_symbol_without_text_is_named(name: str, symbol: str, tmp_path: Path) -> None:
    values: dict[str, Any] = {name: [symbol, "<a>"]}
    with pytest.raises(TrainingError, match=f"^{name} contains an empty symbol.*NUL"):
        spmcompat.train(sentence_iterator=["a b"], **values, model_prefix=tmp_path / "m")
    assert not list(tmp_path.iterdir())
