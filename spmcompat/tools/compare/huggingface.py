"""Trains a Unigram tokenizer with the ``tokenizers`` library.

``python -m spmcompat.tools.compare.huggingface TEXT VOCAB_SIZE OUTPUT``
"""

from __future__ import annotations

import sys

from spmcompat.runtime.outputs import write_files


def main(text: str, vocab_size: str, output: str) -> None:
    """Train on a text with the usual settings, and write a ``tokenizer.json`` file."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=int(vocab_size),
        unk_token="<unk>",
        special_tokens=["<unk>"],
        show_progress=False,
    )
    tokenizer.train([text], trainer)
    content: str = tokenizer.to_str(pretty=True)
    write_files({output: [content.encode()]}, "OUTPUT")


if __name__ == "__main__":
    main(*sys.argv[1:])
