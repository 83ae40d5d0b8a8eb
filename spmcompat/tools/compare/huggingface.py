"""Trains a tokenizer with the ``tokenizers`` library.

``python -m spmcompat.tools.compare.huggingface KIND TEXT VOCAB_SIZE OUTPUT``
"""

from __future__ import annotations

import sys
from typing import Any

from spmcompat.runtime.outputs import write_files


def make(kind: str, vocab_size: int) -> tuple[Any, Any]:
    """Return an untrained tokenizer and its trainer, with the usual settings for its kind.

    The exception is WordPiece, which usually splits text at white space and punctuation. Here, it
    splits text only at white space, like the other kinds.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return tokenizer, trainers.WordPieceTrainer(
            vocab_size=vocab_size, special_tokens=["[UNK]"], show_progress=False
        )
    if kind == "bytelevel-bpe":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        return tokenizer, trainers.BpeTrainer(
            vocab_size=vocab_size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    if kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        return tokenizer, trainers.UnigramTrainer(
            vocab_size=vocab_size,
            unk_token="<unk>",
            special_tokens=["<unk>"],
            show_progress=False,
        )
    raise ValueError(kind)


def main(kind: str, text: str, vocab_size: str, output: str) -> None:
    """Train on a text, and write a ``tokenizer.json`` file."""
    tokenizer, trainer = make(kind, int(vocab_size))
    tokenizer.train([text], trainer)
    content: str = tokenizer.to_str(pretty=True)
    write_files({output: [content.encode()]}, "OUTPUT")


if __name__ == "__main__":
    main(*sys.argv[1:])
