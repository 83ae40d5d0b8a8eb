"""Small models for the tests of exports."""

import io
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import sentencepiece
import tokenizers

import spmcompat
from spmcompat.model.reading import parse
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.causes import Reference
from spmcompat.tools.export.exporting import write_export
from spmcompat.tools.export.targets import Loaded, target_of
from spmcompat.tools.export.verifying import Verification, compare_encodings

TEXT = [
    "The quick brown fox jumps over the lazy dog, and the dog sleeps.",
    "Der schnelle braune Fuchs springt über den faulen Hund; Köln, Größe.",
    "Tiếng Việt rất đẹp và phong phú, một hai ba bốn.",
    "한글은 조선의 글자이다. 나라의 말씀이 중국과 달라.",
    "吾輩は猫である。名前はまだ無い。がぎぐげご",
    "हिन्दी भाषा और देवनागरी लिपि, क़लम",
    "mask bar foo x yz 0123456789 aaaa ababab <tag> [x] {y} @@",
    "Привет, мир! Как дела? Ещё раз.",
] * 4


def own_rules(folder: Path) -> str:
    """Write rules that replace single characters and sequences; return the path of the file."""
    path = folder / "rules.tsv"
    path.write_text(
        "41\t61\nFF21\t61\nDF\t73 73\n74 68\tFE\n74 68 65\t2A 2A\n65 301\tE9\n301\t\n"
        "2026\t2E 2E 2E\n9\t20\nA\t20\n"
    )
    return str(path)


def train(model_type: str = "unigram", text: Sequence[str] = TEXT, **options: object) -> ModelProto:
    """Train a model."""
    written = io.BytesIO()
    spmcompat.train(
        sentence_iterator=iter(text),
        model_writer=written,
        model_type=model_type,
        vocab_size=options.pop("vocab_size", 500),
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return parse(written.getvalue())


@cache
def trained(model_type: str, rules: str, form: str) -> ModelProto:
    """Train a model, once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        named = {
            "own": {"normalization_rule_tsv": own_rules(Path(folder))},
            "nmt_nfkc": {},
        }.get(rules, {"normalization_rule_name": rules})
        return train(model_type, **named, **FORMS[form])


RULES = ("nmt_nfkc", "identity", "nfkc_cf", "own")
FORMS: dict[str, dict[str, object]] = {
    "plain": {},
    "bytes": {
        "byte_fallback": True,
        "character_coverage": 0.98,
        "required_chars": "</>0123456789ABCDEFxunks",
    },
    "symbols": {
        "user_defined_symbols": ["<mask>", "<MASK>", "@@", "▁bar", "e\u0301", "ﬁ", "<m", "x"],
        "control_symbols": ["<ctl>", "¶"],
    },
    "suffix": {"treat_whitespace_as_suffix": True},
    "no_prefix": {"add_dummy_prefix": False},
    "spaces": {"remove_extra_whitespaces": False},
}


def loaded(model: ModelProto, to: str = "tokenizer.json") -> Loaded:
    """Export a model, and load it with the library of the target."""
    target = target_of(to)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "export")
        write_export(target.files(model), path)
        return target.load(path)


def decoders(model: ModelProto) -> tuple[Callable[[list[int]], str], Callable[[list[int]], str]]:
    """Return the functions of sentencepiece and of the export that decode ids."""
    tokenizer = tokenizers.Tokenizer.from_buffer(tokenizer_json.files(model)[""])
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    return processor.decode, partial(tokenizer.decode, skip_special_tokens=False)


def differences(
    model: ModelProto, lines: Sequence[str], to: str = "tokenizer.json"
) -> Verification:
    """Export a model, and compare the ids of lines."""
    return compare_encodings(Reference(model), loaded(model, to), lines)


def changed(model: ModelProto, change: Callable[[ModelProto], object]) -> ModelProto:
    """Return a changed copy of a model."""
    copy = ModelProto.FromString(model.SerializeToString())
    change(copy)
    return copy
