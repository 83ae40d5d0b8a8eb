"""The steps of `spmcompat.engine`, called one by one."""

import io
import math
from pydoc_data.topics import topics

import numpy as np
import pytest

import spmcompat
from spmcompat import engine
from spmcompat.errors import UnknownOptionError
from spmcompat.model.reading import read_model
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers

TEXT = "\n".join(topics.values())[:60_000]
LINES = ["<sep> 42 cats<sep> and 17 rats<sep>", *filter(None, TEXT.split("\n"))]
QUIET = Report(min_log_level=3)


def trained(**options: object) -> bytes:
    model = io.BytesIO()
    spmcompat.train(sentence_iterator=LINES, model_writer=model, minloglevel=2, **options)  # type: ignore[arg-type]
    return model.getvalue()


def text_with(context: Context, **options: object) -> engine.Text:
    return engine.read(engine.text_of(LINES, **options), context)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_steps_of_unigram_training_make_the_model_of_training(workers: int) -> None:
    options = {"vocab_size": 500, "user_defined_symbols": ["<sep>"], "num_threads": 3}
    context = Context(Workers(workers), QUIET)
    text = text_with(context, **options)
    corpus = text.corpus(context)
    seeds = engine.make_seeds(corpus, text.unigram, context)
    unigram = engine.Unigram(corpus, seeds, context, text.unigram)
    smallest = text.unigram.loop_size
    while len(unigram) > smallest:
        unigram.em_round()
        size = max(smallest, engine.shrunk(len(unigram), text.unigram.shrinking_factor))
        losses = unigram.losses()
        needed = [i for i, loss in enumerate(losses) if loss == math.inf]
        others = [i for i, loss in enumerate(losses) if loss is not None and loss < math.inf]
        others.sort(key=lambda i: -losses[i])  # type: ignore[operator]
        unigram.keep([*needed, *others][:size])
    pieces = engine.drop_unreachable(unigram.pieces, context.workers)
    final = engine.finalize(pieces, corpus.alphabet, text.unigram.final_size)
    assert text.model(final) == trained(**options)


def test_the_steps_of_bpe_training_make_the_pieces_of_training() -> None:
    options = {"vocab_size": 500, "model_type": "bpe", "user_defined_symbols": ["<sep>"]}
    context = Context(Workers(2), QUIET)
    text = text_with(context, **options)
    model = read_model(trained(**options))
    normal = [piece.piece for piece in model.pieces if piece.type == piece.NORMAL]
    characters = [chr(character) for character, _ in text.alphabet]
    segments = text.segments(context)
    merges = engine.make_merges(segments, len(normal) - len(characters), context)
    assert [piece.decode() for piece, *_ in merges] + characters == normal


def test_keep_gives_the_pieces_new_ids() -> None:
    context = Context(Workers(1), QUIET)
    text = text_with(context, vocab_size=500)
    corpus = text.corpus(context)
    seeds = list(engine.make_seeds(corpus, text.unigram, context))
    unigram = engine.Unigram(corpus, seeds, context)
    counts = unigram.expected_counts()
    assert len(counts) == len(unigram) == len(seeds)
    # A piece of several characters is not needed, so the likelihood only falls without it.
    before = unigram.log_likelihood()
    kept = [i for i, (piece, _) in enumerate(seeds) if len(piece.decode()) < 4]
    assert 0 < len(kept) < len(seeds)
    unigram.keep(kept)
    assert list(unigram.pieces) == [seeds[i] for i in kept]
    assert unigram.log_likelihood() < before


def test_the_segments_of_lines_add_up_to_the_whole() -> None:
    model = read_model(trained(vocab_size=500, user_defined_symbols=["<sep>"]))
    context = Context(Workers(2), QUIET)
    reader = engine.LineCutter(model, context.workers)
    lines = [line.encode() for line in LINES[:4]]
    pieces = [(p.piece.encode(), p.score) for p in model.pieces if p.type == p.NORMAL]
    pieces.append((engine.UNKNOWN_MARK.encode(), 0.0))
    segments = reader.segments(lines)
    by_segment = np.array(
        engine.Unigram(segments.corpus, pieces, context).segment_log_likelihoods()
    )
    of_lines = segments.sum_by_line(by_segment)
    whole = engine.Unigram(reader.corpus(lines), pieces, context).log_likelihood()
    assert len(of_lines) == len(lines)
    assert math.isclose(of_lines.sum(), whole, rel_tol=1e-9)


def test_a_text_is_checked_as_in_training() -> None:
    with pytest.raises(UnknownOptionError):
        engine.text_of(LINES, vocab_sise=500)
    with pytest.raises(spmcompat.TrainingError):
        engine.read(engine.text_of(LINES, vocab_size=1), Context(Workers(1), QUIET))
    with pytest.raises(AttributeError, match="make_seed"):
        engine.make_seed  # type: ignore[attr-defined]  # noqa: B018
