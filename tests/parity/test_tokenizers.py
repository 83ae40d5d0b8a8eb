"""Trained tokenizers, compared with those that the library ``tokenizers`` trains itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.bpe.token_trainer import TokenOptions, byte_texts
from spmcompat.huggingface.files import TrainedTokenizer
from spmcompat.huggingface.template import SHIPPED, Template, special_token
from spmcompat.huggingface.training import TokenizerJob, run
from spmcompat.plan import TextPlan
from spmcompat.runtime.progress import Report
from spmcompat.splitting.bert import BertOptions
from spmcompat.text.sources import WordText
from tests.kinds import raises_kind

from .corpora import mixed_text, words_text

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import (  # noqa: E402
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

LINES = [
    *mixed_text(400).splitlines(keepends=True),
    *words_text(400).splitlines(keepends=True),
    "two  spaces, 12345 digits\t and \u3000 CR\r\n",
    "<|endoftext|> it's [CLS] we'll É e\u0301\n",
    "\n",
    "no end",
]
SIZES = [300, 600, 1000]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "a.txt"
    file.write_bytes("".join(LINES).encode())
    return file


def bare(document: dict[str, Any]) -> Any:
    """Return the tokenizer that transformers trains for this one."""
    return Tokenizer.from_str(json.dumps({**document, "added_tokens": [], "post_processor": None}))


def trainer_of(template: Template, **options: Any) -> Any:
    names = [token["content"] for token in template.special_tokens]
    given = {"special_tokens": names, "show_progress": False, **options}
    if not template.is_bpe:
        return trainers.WordPieceTrainer(**given)
    alphabet = [*byte_texts().values()] if template.is_byte_level else []
    given["initial_alphabet"] = [*alphabet, *given.get("initial_alphabet", ())]
    return trainers.BpeTrainer(**given)


def result_of(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    vocab = document["model"]["vocab"]
    return sorted(vocab, key=vocab.__getitem__), document["model"].get("merges", [])


def expected(tokenizer: Any) -> tuple[list[str], list[list[str]]]:
    return result_of(json.loads(tokenizer.to_str()))


BYTE_LEVEL = [name for name in SHIPPED if name != "bert"]


@pytest.mark.parametrize("name", BYTE_LEVEL)
@pytest.mark.parametrize(
    "options",
    [{}, {"special_tokens": ["<|begin_of_text|>", "a", "<s>"]}, {"min_frequency": 5}],
    ids=["template", "special", "frequent"],
)
def test_templates(name: str, options: dict[str, Any], path: Path) -> None:
    template = Template.load(name)
    trained = spmcompat.train_tokenizer(name, input=path, vocab_size=SIZES, **options)
    for size, ours in zip(SIZES, trained, strict=True):
        real = bare(template.document)
        real.train([str(path)], trainer_of(template, vocab_size=size, **options))
        assert result_of(ours.document) == expected(real)
        special = options.get("special_tokens", [one["content"] for one in template.special_tokens])
        assert [one["content"] for one in ours.document["added_tokens"]] == special
        loaded = ours.tokenizer()
        real.add_special_tokens([AddedToken(**special_token(one)) for one in special])
        for line in LINES:
            encoded = loaded.encode(line, add_special_tokens=False)
            assert encoded.ids == real.encode(line, add_special_tokens=False).ids


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_items_keep_their_ends(name: str) -> None:
    template = Template.load(name)
    items = [*LINES, "a\r\n\r\n", "\n", "", "b\n\nb"] * 3
    ours = spmcompat.train_tokenizer(name, sentence_iterator=items, vocab_size=700)
    real = bare(template.document)
    real.train_from_iterator(items, trainer_of(template, vocab_size=700))
    assert result_of(ours.document) == expected(real)


def _unusual() -> dict[str, Any]:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    groups = r"(?<group>\p{L}+|\p{N})\k<group>*| ?[^\p{L}\p{N}]+"
    return {
        "metaspace": (None, pre_tokenizers.Metaspace()),
        "metaspace first": (None, pre_tokenizers.Metaspace(prepend_scheme="first")),
        "digits": (
            None,
            pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level]),
        ),
        "backreference": (
            None,
            pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(groups), "isolated"), byte_level]),
        ),
        "lowercase": (
            normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ),
        "prefix space": (None, pre_tokenizers.ByteLevel(add_prefix_space=True)),
        "normalized": (normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=True)),
        "byte-level normalizer": (normalizers.ByteLevel(), pre_tokenizers.Whitespace()),
        "nothing": (None, None),
    }


@pytest.mark.parametrize("name", _unusual())
def test_unusual_templates(name: str, path: Path, tmp_path: Path) -> None:
    normalizer, pre_tokenizer = _unusual()[name]
    real = Tokenizer(models.BPE(unk_token="<unk>"))
    if normalizer is not None:
        real.normalizer = normalizer
    if pre_tokenizer is not None:
        real.pre_tokenizer = pre_tokenizer
    template = tmp_path / "tokenizer.json"
    real.save(str(template))
    options = {"vocab_size": 600, "special_tokens": ["<unk>"], "max_token_length": 12}
    ours = spmcompat.train_tokenizer(tmp_path, input=path, **options)
    real.train([str(path)], trainer_of(Template.load(template), **options))
    assert result_of(ours.document) == expected(real)
    assert ours.tokenizer().encode("it's 2").tokens == real.encode("it's 2").tokens


def test_letters(tmp_path: Path) -> None:
    texts = ["aaaa bbb cc d", "a b c", "ééééé"]
    real = Tokenizer(models.BPE())
    real.pre_tokenizer = pre_tokenizers.Whitespace()
    template = tmp_path / "template.json"
    real.save(str(template))
    options = {"limit_alphabet": 4, "initial_alphabet": ["x"], "max_token_length": 3}
    ours = spmcompat.train_tokenizer(template, sentence_iterator=texts, **options)
    real.train_from_iterator(texts, trainer_of(Template.load(template), **options))
    assert result_of(ours.document) == expected(real)


def copies(make: Any) -> tuple[Any, Any]:
    return make(), make()


def gpt2() -> Any:
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def with_added_tokens() -> Any:
    tokenizer = gpt2()
    tokenizer.add_tokens([AddedToken("it's", normalized=False), AddedToken(" the", lstrip=True)])
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def trained_before() -> Any:
    tokenizer = gpt2()
    tokenizer.train_from_iterator(["other text"], trainers.BpeTrainer(show_progress=False))
    return tokenizer


def with_python_object() -> Any:
    class Halves:
        def pre_tokenize(self, text: Any) -> None:
            text.split(
                lambda _, part: [
                    part[: len(part.normalized) // 2],
                    part[len(part.normalized) // 2 :],
                ]
            )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Halves())
    return tokenizer


@pytest.mark.parametrize("make", [gpt2, with_added_tokens, trained_before, with_python_object])
@pytest.mark.parametrize("from_files", [True, False])
def test_tokenizers_in_memory(make: Any, from_files: bool, path: Path) -> None:
    ours, real = copies(make)
    special = ["<s>", AddedToken("<|endoftext|>", rstrip=True)]
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, show_progress=False)
    if from_files:
        spmcompat.train_from_files(ours, [path], trainer)
        real.train([str(path)], trainer)
    else:
        spmcompat.train_from_iterator(ours, batches(LINES), trainer)
        real.train_from_iterator(batches(LINES), trainer)
    if make is with_python_object:
        assert ours.model.__getstate__() == real.model.__getstate__()
    else:
        assert json.loads(ours.to_str()) == json.loads(real.to_str())


def batches(lines: list[str]) -> Iterable[list[str]]:
    return (lines[i : i + 7] for i in range(0, len(lines), 7))


def test_the_default_trainer() -> None:
    ours, real = copies(gpt2)
    spmcompat.train_from_iterator(ours, LINES)
    real.train_from_iterator(LINES)
    assert json.loads(ours.to_str()) == json.loads(real.to_str())


def fast_tokenizer(name: str) -> Any:
    transformers = pytest.importorskip("transformers")
    trained = spmcompat.train_tokenizer(name, sentence_iterator=LINES, vocab_size=400)
    roles = {"gpt2": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}}.get(name, {})
    return transformers.PreTrainedTokenizerFast(tokenizer_object=trained.tokenizer(), **roles)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gpt2", {}),
        ("gpt2", {"special_tokens_map": {"<|endoftext|>": "<end>"}, "min_frequency": 3}),
        ("llama3", {"new_special_tokens": ["<a>", AddedToken("<b>", lstrip=True)]}),
        ("qwen2", {"max_token_length": 5, "show_progress": False}),
    ],
)
def test_tokenizers_of_transformers(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    fast = fast_tokenizer(name)
    ours = spmcompat.train_new_from_iterator(fast, batches(LINES), 700, **options)
    real = fast.train_new_from_iterator(batches(LINES), 700, **{"show_progress": False, **options})
    assert json.loads(ours.backend_tokenizer.to_str()) == json.loads(
        real.backend_tokenizer.to_str()
    )
    assert (type(ours), ours.special_tokens_map) == (type(real), real.special_tokens_map)
    for number, tokenizer in enumerate((ours, real)):
        tokenizer.save_pretrained(tmp_path / str(number))
    for file in (tmp_path / "1").iterdir():
        assert (tmp_path / "0" / file.name).read_bytes() == file.read_bytes()


BERT = {
    "uncased": {},
    "cased": {"lowercase": False},
    "accents": {"strip_accents": False},
    "nothing": {"clean_text": False, "handle_chinese_chars": False, "lowercase": False},
}


def train_word_piece(template: Template, path: Path, size: int) -> tuple[TrainedTokenizer, Any]:
    """Train with both, given the library's order of letters, which differs between two of its runs.

    Returns the trained tokenizer, and that of the library. Their tokens are compared.
    """
    real = bare(template.document)
    real.train([str(path)], trainer_of(template, vocab_size=size))
    texts, _ = expected(real)
    affixed = [text for text in texts if text.startswith("##") and len(text) == 3]
    plan = TextPlan((str(path),), long_sentences="keep")
    options = TokenOptions([size], continuing_subword_prefix="##", affixed_letters=affixed)
    job = TokenizerJob(
        template, template.special_tokens, options, WordText(plan), 2, "", "tokenizer.json", []
    )
    (ours,) = run(job, Report(3))
    assert result_of(ours.document)[0] == texts
    return ours, real


@pytest.mark.parametrize("name", BERT)
def test_word_piece(name: str, path: Path, tmp_path: Path) -> None:
    document = {**Template.load("bert").document}
    document["normalizer"] = {**document["normalizer"], **BERT[name]}
    file = tmp_path / "bert.json"
    file.write_text(json.dumps(document))
    template = Template.load(file)
    assert isinstance(template.splitting.scanner, BertOptions)
    ours, real = train_word_piece(template, path, 600)
    real.add_special_tokens([AddedToken(**one) for one in template.special_tokens])
    loaded = ours.tokenizer()
    for line in LINES:
        encoded = loaded.encode(line, add_special_tokens=False)
        assert encoded.ids == real.encode(line, add_special_tokens=False).ids


PARITY: dict[str, dict[str, Any]] = {
    "base": {},
    "window": {"variant": "window", "window_size": 10, "alpha": 1.5, "global_merges": 50},
    "ratio": {"ratio": [1.0, 2.5]},
    "special": {"special_tokens": ["<s>", AddedToken("<x>", lstrip=True)], "total_symbols": True},
}


@pytest.mark.parametrize("name", PARITY)
@pytest.mark.parametrize("with_development", [False, True])
@pytest.mark.parametrize("make", [gpt2, with_added_tokens, with_python_object])
def test_several_languages(make: Any, with_development: bool, name: str) -> None:
    ours, real = copies(make)
    trainer = trainers.ParityBpeTrainer(num_merges=400, show_progress=False, **PARITY[name])
    half = len(LINES) // 2
    training = [LINES[:half], LINES[half:]]
    development = [LINES[::9], LINES[1::9]] if with_development else None
    spmcompat.train_parity_from_iterators(
        ours, [batches(text) for text in training], trainer, development
    )
    trainer.train_from_iterator(real, [batches(text) for text in training], development)
    if make is with_python_object:
        assert ours.model.__getstate__() == real.model.__getstate__()
    else:
        assert json.loads(ours.to_str()) == json.loads(real.to_str())


def test_other_trainers_and_models_are_refused() -> None:
    tokenizer = gpt2()
    with raises_kind("wrong-type WordPieceTrainer BPE"):
        spmcompat.train_from_iterator(tokenizer, ["a"], trainers.WordPieceTrainer())
    with raises_kind("wrong-type Unigram"):
        spmcompat.train_from_iterator(Tokenizer(models.Unigram()), ["a"])
    with raises_kind("wrong-type BpeTrainer ParityBpeTrainer"):
        spmcompat.train_parity_from_iterators(tokenizer, [["a"]], trainers.BpeTrainer())
    with raises_kind("bad-value train_iterators dev_iterators"):
        spmcompat.train_parity_from_iterators(tokenizer, [["a"]], None, [["a"], ["b"]])
    with raises_kind("bad-value"):
        spmcompat.train_parity_from_iterators(tokenizer, [])
    assert tokenizer.get_vocab_size() == 0
