"""One run from settings to files; the whole pipeline on one screen."""

from collections.abc import Iterable, Iterator

from spmcompat.checks import cautions, verify
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.model.vocabulary import assemble
from spmcompat.model.writers import Writer, breaking_pieces, save
from spmcompat.progress import Report
from spmcompat.spec import Settings, with_charsmaps


def run(
    settings: Settings,
    sentences: Iterable[str | bytes] | None = None,
    writer: Writer | None = None,
    report: Report | None = None,
) -> None:
    """Train a model and write it.

    Parameters
    ----------
    settings : Settings
        What to train, and how.
    sentences : iterable of str or bytes, optional
        The corpus, if it is not read from files.
    writer : object with ``write``, optional
        Takes the bytes of the model, if it is not written to files.
    report : Report, optional
        What the run speaks through; by default standard error or the program's logging.

    Raises
    ------
    TrainingError
        If training cannot go on; nothing is written then.
    """
    from spmcompat.corpus.reading import read_corpus  # noqa: PLC0415
    from spmcompat.unigram.trainer import train as train_unigram  # noqa: PLC0415

    report = report or Report(settings.min_log_level)
    settings = with_charsmaps(settings)
    meta = verify(settings, has_sentences=sentences is not None, has_writer=writer is not None)
    for caution in [*settings.notes, *cautions(settings)]:
        report.warning(caution)

    texts = [piece.piece.encode() for piece in meta.values()]
    source = None if sentences is None else checked_sentences(sentences)
    corpus = read_corpus(settings, texts, source, report)
    pieces = train_unigram(corpus, settings.trainer, report)
    model = assemble(pieces, meta, settings.trainer, settings.normalizer, settings.denormalizer)
    deliver(model, writer, report)


def checked_sentences(sentences: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Pass sentences on, and turn what is wrong with them into a `TrainingError`.

    An exception of the iterator itself becomes the cause of the error.
    """
    if isinstance(sentences, str | bytes):
        raise BadValueError("sentence_iterator is one text. Give an iterable of sentences.")
    number = 0
    try:
        for number, sentence in enumerate(sentences, 1):
            if not isinstance(sentence, str | bytes):
                raise BadValueError(
                    "Iterator must return str or bytes. "
                    f"Item {number} is of type {type(sentence).__name__}."
                )
            yield sentence
    except TrainingError:
        raise
    except Exception as error:
        raise TrainingError(
            f"the sentence iterator failed after {number} sentences: "
            f"{type(error).__name__}: {error}"
        ) from error


def deliver(model: ModelProto, writer: Writer | None, report: Report) -> None:
    """Give the model to the writer, or write its two files."""
    if writer is not None:
        writer.write(model.SerializeToString())
        return
    prefix = model.trainer_spec.model_prefix
    for piece in breaking_pieces(model):
        report.warning(
            f"The piece [{piece}] contains escaped characters that break the format of "
            f"{prefix}.vocab"
        )
    save(model, prefix)
    report.info(f"Saved {prefix}.model and {prefix}.vocab: {len(model.pieces)} pieces")
