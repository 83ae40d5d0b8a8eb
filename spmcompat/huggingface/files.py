"""The files of a trained tokenizer: tokenizer.json, and the formats of other libraries."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.bpe.token_trainer import byte_texts
from spmcompat.errors import BadValueError, UnwritableError
from spmcompat.huggingface.reading import tokenizer_of
from spmcompat.huggingface.template import Json, Template, steps
from spmcompat.runtime.outputs import check_output, outputs, refuse_inputs
from spmcompat.runtime.progress import Report
from spmcompat.splitting.expressions import EXPRESSIONS

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_OPTION = "--output"
_NAMES = {
    role: (f"[{role.upper()}]", f"<{role}>", *others)
    for role, others in {
        "bos": ("<s>", "<|begin_of_text|>"),
        "eos": ("</s>", "<|endoftext|>", "<|end_of_text|>"),
        "unk": (),
        "sep": (),
        "pad": (),
        "cls": (),
        "mask": (),
    }.items()
}
"""The usual names of the tokens for each role."""


class TargetError(BadValueError):
    """A tokenizer cannot be written in a format."""

    kind = "cannot-export"


class TrainedTokenizer:
    """A tokenizer with a trained vocabulary.

    Attributes
    ----------
    document : dict
        The content of its tokenizer.json.
    """

    def __init__(self, document: Json) -> None:
        self.document = document

    def __repr__(self) -> str:
        """Name the type of the model and the size of the vocabulary."""
        return f"TrainedTokenizer({self.document['model']['type']}, {len(self.vocab)} tokens)"

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each token, in the order of ids."""
        return dict(self.document["model"]["vocab"])

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs of tokens that are merged, the first merge first; empty for WordPiece."""
        return [(left, right) for left, right in self.document["model"].get("merges", ())]

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer of the library ``tokenizers``.

        Raises
        ------
        MissingLibraryError
            If the library is not installed.
        """
        return tokenizer_of(self.document)

    def save(self, path: str | os.PathLike[str], to: str = "tokenizer.json") -> None:
        """Write the tokenizer to a file or a folder.

        Parameters
        ----------
        path : path
            The file, or the folder for a format of several files.
        to : str
            The format: ``tokenizer.json``, ``hf-folder``, ``vocab.json`` (with ``merges.txt``),
            ``vocab.txt`` or ``tiktoken``.

        Raises
        ------
        TrainingError
            If the format cannot express the tokenizer, or a file cannot be written.
        """
        paths = checked_outputs(os.fspath(path), to, [len(self.vocab)], self.document)
        save({paths[0]: self}, to, Report(min_log_level=1))


class Target(NamedTuple):
    """A format of trained tokenizers.

    Attributes
    ----------
    files : callable
        Takes a document and returns the content of each file by its name. The name of a single file
        is empty: the user chooses it.
    help : str
        What the files are for.
    """

    files: Callable[[Json], dict[str, bytes]]
    help: str


def target_of(to: str) -> Target:
    """Return a format by its name.

    Raises
    ------
    BadValueError
        If there is no such format.
    """
    if to not in TARGETS:
        raise BadValueError(f"There is no format {to!r}. Choose from {', '.join(TARGETS)}.")
    return TARGETS[to]


def checked_outputs(
    path: str, to: str, sizes: Sequence[int], document: Json, inputs: Sequence[str] = ()
) -> list[str]:
    """Return the path of the output for each size. If there are several, it contains the size.

    Parameters
    ----------
    path : str
        The file or the folder to write.
    to : str
        The format.
    sizes : sequence of int
        The sizes of the vocabularies.
    document : dict
        The tokenizer, perhaps without its vocabulary.
    inputs : sequence of str
        The files that are read.

    Raises
    ------
    TrainingError
        If an output cannot be written or would replace an input, or the format cannot express the
        tokenizer.
    """
    names = target_of(to).files(document)
    is_file = "" in names
    stem, suffix = os.path.splitext(path) if is_file else (path.rstrip("/"), "")
    paths = [path] if len(sizes) == 1 else [f"{stem}-{size}{suffix}" for size in sizes]
    for one in paths:
        if is_file:
            check_output(one, _OPTION)
        elif os.path.exists(one) and not os.path.isdir(one):
            raise UnwritableError(f'"{one}": Not a directory. Choose another {_OPTION}.')
    refuse_inputs([_path(one, name) for one in paths for name in names], inputs, _OPTION)
    return paths


def save(tokenizers: Mapping[str, TrainedTokenizer], to: str, report: Report) -> None:
    """Write the files of all tokenizers, or none.

    Parameters
    ----------
    tokenizers : mapping of str to TrainedTokenizer
        The tokenizers by path.
    to : str
        The format.
    report : Report
        Receives log lines.

    Raises
    ------
    TrainingError
        If the format cannot express a tokenizer, or a file cannot be written.
    """
    target = target_of(to)
    contents = {path: target.files(one.document) for path, one in tokenizers.items()}
    with outputs(_OPTION) as pending:
        for path, files in contents.items():
            if "" not in files:
                pending.make_folder(path)
            pending.write({_path(path, name): [text] for name, text in files.items()})
    for path, one in tokenizers.items():
        twice = len(one.merges) - len({left + right for left, right in one.merges})
        if twice and to == "tiktoken":
            report.warning(
                f"{path}: {twice} merges give a token that an earlier merge gives, too. tiktoken "
                "does not tell them apart, so it may cut some texts in another way."
            )
        report.info(f"Saved {path}: {len(one.vocab)} tokens")


def _path(path: str, name: str) -> str:
    return os.path.join(path, name) if name else path


def tokenizer_json(document: Json) -> dict[str, bytes]:
    """Return the file that ``Tokenizer.from_file`` loads."""
    return {"": _as_json(document)}


def hf_folder(document: Json) -> dict[str, bytes]:
    """Return the files of a folder that ``AutoTokenizer.from_pretrained`` loads."""
    config: Json = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    names = {token["content"] for token in document["added_tokens"]}
    for role, usual in _NAMES.items():
        found = next((name for name in usual if name in names), None)
        if found is not None:
            config[f"{role}_token"] = found
    return {
        "tokenizer.json": _as_json(document),
        "tokenizer_config.json": _as_json(config),
    }


def vocab_and_merges(document: Json) -> dict[str, bytes]:
    """Return the files ``vocab.json`` and ``merges.txt`` of GPT-2."""
    model = document["model"]
    if model["type"] != "BPE":
        raise TargetError("vocab.json and merges.txt belong to BPE. Give --to=vocab.txt.")
    broken = next((one for one in model["vocab"] if " " in one or "\n" in one), None)
    if broken is not None and model["merges"]:
        raise TargetError(f"merges.txt cannot contain the token {broken!r}. Give another --to.")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"])]
    return {
        "vocab.json": _as_json(model["vocab"]),
        "merges.txt": "".join(f"{line}\n" for line in lines).encode(),
    }


def vocab_txt(document: Json) -> dict[str, bytes]:
    """Return the file ``vocab.txt`` of BERT: a token on each line, in the order of ids."""
    broken = next((text for text in document["model"]["vocab"] if "\n" in text), None)
    if broken is not None:
        raise TargetError(f"vocab.txt cannot contain the token {broken!r}. Give another --to.")
    return {"": "".join(f"{text}\n" for text in document["model"]["vocab"]).encode()}


def tiktoken_ranks(document: Json) -> dict[str, bytes]:
    """Return the ranks, and the other arguments of ``tiktoken.Encoding`` as JSON."""
    template = Template(document, "the tokenizer")
    splitting = template.splitting
    if not splitting.are_bytes or splitting.adds_space or splitting.normalizes:
        raise TargetError(
            "tiktoken only splits with an expression and merges bytes; it does not normalize and "
            "adds no space. Give another --to, or a template such as gpt2, cl100k, o200k or llama3."
        )
    special = {token["content"]: token["id"] for token in document["added_tokens"]}
    ranks = {t: n for t, n in document["model"]["vocab"].items() if t not in special}
    bytes_of = {text: byte for byte, text in byte_texts().items()}
    other = next((text for text in ranks if not bytes_of.keys() >= {*text}), None)
    missing = next((text for text in bytes_of if ranks and text not in ranks), None)
    if other is not None or missing is not None:
        raise TargetError(
            f"tiktoken merges exactly the 256 bytes, but {other or missing!r} is "
            f"{'no byte' if missing is None else 'missing'}. Leave out limit_alphabet and "
            "initial_alphabet."
        )
    lines = (
        b64encode(bytes(bytes_of[letter] for letter in token)) + b" %d\n" % rank
        for token, rank in ranks.items()
    )
    settings = {
        "name": "spmcompat",
        "pat_str": _expression(template),
        "special_tokens": special,
    }
    return {"ranks.tiktoken": b"".join(lines), "encoding.json": _as_json(settings)}


TARGETS = {
    "tokenizer.json": Target(tokenizer_json, "the file of the library tokenizers"),
    "hf-folder": Target(hf_folder, "a folder that transformers loads"),
    "vocab.json": Target(vocab_and_merges, "a folder with vocab.json and merges.txt"),
    "vocab.txt": Target(vocab_txt, "a file with a token on each line"),
    "tiktoken": Target(tiktoken_ranks, "a folder with the arguments of tiktoken.Encoding"),
}


def _expression(template: Template) -> str:
    """Return the expression with which a byte-level template splits texts."""
    first = steps(template.document["pre_tokenizer"])[0]
    if first["type"] == "Split":
        return str(first["pattern"]["Regex"])
    return next(text for text, scanner in EXPRESSIONS.items() if scanner == "gpt2")


def _as_json(content: object) -> bytes:
    """Return JSON with a value on each line. An indent would take several times as long."""
    text = json.dumps(content, ensure_ascii=False, separators=(",\n", ": "), allow_nan=False)
    return f"{text}\n".encode()
