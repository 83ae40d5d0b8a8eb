"""How the size of the vocabulary changes the length of a text in tokens.

The models are trained while the site is built, on the documentation texts of Python.
"""

from io import BytesIO, StringIO
from pydoc_data import topics

import sentencepiece

import spmcompat
from building import svg

SIZES = [500, 1000, 2000, 4000]


def bytes_per_token() -> str:
    """Draw the bytes per token, measured on lines that the models have not seen."""
    lines = "\n".join(topics.topics[name] for name in sorted(topics.topics)).splitlines()
    held_out = [line for index, line in enumerate(lines) if index % 10 == 0 and line]
    seen = [line for index, line in enumerate(lines) if index % 10]
    size = sum(len(line.encode()) for line in held_out)
    series = []
    for model_type, shade in (("unigram", "ours"), ("bpe", "theirs")):
        models = {number: BytesIO() for number in SIZES}
        spmcompat.train(
            sentence_iterator=iter(seen),
            model_writer=models.get,
            model_type=model_type,
            vocab_size=SIZES,
            logstream=StringIO(),
        )
        values = []
        for model in models.values():
            processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
            values.append(size / sum(map(len, processor.encode(held_out))))
        series.append(svg.Series(model_type, shade, values))
    return svg.curves(
        "Bytes per token against the size of the vocabulary",
        [float(size) for size in SIZES],
        series,
        "vocab_size",
        "bytes per token, held-out lines",
    )
