"""The facts that ``spmcompat show`` states about a model."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import OWN_NAMES
from spmcompat.releases import RELEASES
from spmcompat.tools.show.contents import contents
from tests.parity import corpora
from tests.unit.tools.edit.growing_models import trained, words


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(corpora.words_text(1, 300), encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    status = main([*arguments], stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "flags",
    [
        "--vocab_size=120",
        "--vocab_size=120 --model_type=bpe --byte_fallback --vocab_size=400 --unk_surface=' ? '",
        "--vocab_size=120 --model_type=word --hard_vocab_limit=false --nosplit_by_number",
        "--vocab_size=30 --model_type=char --use_all_vocab --character_coverage=0.99",
        "--vocab_size=150 --normalization_rule_name=nfkc_cf --num_threads=3 --shrinking_factor=0.6",
        "--vocab_size=150 --normalization_rule_name=identity --remove_extra_whitespaces=false",
        '--vocab_size=150 --user_defined_symbols=\'a b,"x,y"\' --control_symbols="<it\'s>" '
        '--pad_id=3 --bos_piece="<b o s>" --required_chars=äé',
    ],
)
def test_the_command_trains_the_same_model(release: str, flags: str) -> None:
    given = ["--input=text.txt", "--model_prefix=a", f"--compat={release}", "--quiet"]
    assert run("train", *given, *shlex.split(flags))[0] == 0
    first = Path("a.model").read_bytes()
    status, out, _ = run("show", "a.model")
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("  spm_train ")]
    program, *shown = shlex.split(line)
    found = json.loads(run("show", "a.model", "--json")[1])
    assert [program, *shown] == found["command"]
    assert release in found["releases"]
    Path("a.model").unlink()
    assert run("train", *shown, f"--compat={release}", "--quiet")[0] == 0
    assert Path("a.model").read_bytes() == first
    if found["releases"] == [release] and release != [*RELEASES][-1]:
        assert f"--compat={release}" in shown


def test_rules_tell_releases_apart() -> None:
    rules = {release: facts.characters_without_rules for release, facts in RELEASES.items()}
    for release in RELEASES:
        model = trained(words(1, 200), vocab_size=60, compat=release)
        same_rules = [one for one in RELEASES if rules[one] == rules[release]]
        assert contents(model).releases == same_rules


def test_the_facts_of_a_model() -> None:
    model = trained(
        words(1, 200, types=300), vocab_size=400, byte_fallback=True, user_defined_symbols=["xyz"]
    )
    found = contents(model)
    assert found.model_type == "unigram"
    assert found.pieces == {
        "unknown": 1,
        "control": 2,
        "user-defined": 1,
        "byte": 256,
        "normal": len(model.pieces) - 260,
    }
    normal = [piece for piece in model.pieces if piece.type == piece.NORMAL]
    assert found.scores is not None
    assert found.scores[0] == pytest.approx(min(piece.score for piece in normal), rel=1e-6)
    assert found.longest == max(len(piece.piece) for piece in normal)
    assert found.size == len(model.SerializeToString())


def test_the_command_of_a_model_from_an_iterator_has_a_placeholder() -> None:
    model = trained(words(1, 200), vocab_size=60)
    assert contents(model).command[:3] == ["spm_train", "--input=YOUR_TEXT", "--model_prefix=m"]


def test_the_command_states_the_vocabulary_size_even_if_it_is_the_default() -> None:
    model = trained(words(1, 200), vocab_size=60)
    model.trainer_spec.vocab_size = 8000
    assert "--vocab_size=8000" in contents(model).command


def test_other_rules_are_not_called_predefined() -> None:
    Path("rules.tsv").write_text("41\t61\n")
    spmcompat.train(
        input="text.txt",
        model_prefix="m",
        vocab_size=60,
        normalization_rule_tsv="rules.tsv",
        minloglevel=2,
    )
    _, out, _ = run("show", "m.model")
    assert "user_defined, " in out
    assert "not predefined rules" in out
    assert "--normalization_rule_tsv=rules.tsv" in out
    changed = ModelProto.FromString(Path("m.model").read_bytes())
    changed.normalizer_spec.name = "nmt_nfkc"
    Path("n.model").write_bytes(changed.SerializeToString())
    assert "none of the known releases" in run("show", "n.model")[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_NAMES)
def test_the_rules_of_this_package_are_known(name: str) -> None:
    spmcompat.train(
        input="text.txt",
        model_prefix="m",
        vocab_size=60,
        normalization_rule_name=name,
        compat="0.2.1",
        minloglevel=2,
    )
    _, out, _ = run("show", "m.model")
    assert f"{name}, " in out
    assert "not predefined rules" not in out
    assert "spmcompat: sentencepiece does not have these rules" in out
    assert f"--normalization_rule_name={name}" in out


def test_texts_of_the_model_are_printable() -> None:
    spmcompat.train(
        input="text.txt",
        model_prefix="m",
        vocab_size=60,
        user_defined_symbols=["\x1b[31m"],
        minloglevel=2,
    )
    status, out, _ = run("show", "m.model")
    assert status == 0
    assert "\x1b" not in out
