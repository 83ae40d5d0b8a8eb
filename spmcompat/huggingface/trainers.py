"""Trains the tokenizers of the library ``tokenizers`` with the options of its own trainers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.bpe import parity_token_trainer
from spmcompat.bpe.parity_token_trainer import ParityTokenOptions
from spmcompat.bpe.token_trainer import TokenOptions, train
from spmcompat.errors import WrongTypeError
from spmcompat.huggingface.reading import tokenizer_of, without_vocabulary
from spmcompat.huggingface.template import (
    Json,
    Splitting,
    Template,
    byte_texts,
    filled_model,
)
from spmcompat.huggingface.training import affixes_of, cut_text
from spmcompat.runtime.context import Context
from spmcompat.text.sources import WordText
from spmcompat.words.words import Words

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import Model
    from tokenizers.trainers import BpeTrainer, ParityBpeTrainer, Trainer, WordPieceTrainer

_TRAINERS = {"BPE": "BpeTrainer", "WordPiece": "WordPieceTrainer"}


class GivenTrainer(NamedTuple):
    """What a trainer of ``tokenizers`` contains.

    Attributes
    ----------
    options : TokenOptions
        Its options.
    special_tokens : list of AddedToken
        Its special tokens.
    shows_progress : bool
        Whether it shows progress.
    """

    options: TokenOptions
    special_tokens: list[AddedToken]
    shows_progress: bool

    @classmethod
    def of(cls, trainer: BpeTrainer | WordPieceTrainer) -> GivenTrainer:
        """Return the content of a ``BpeTrainer`` or a ``WordPieceTrainer``."""
        ((_, state),) = json.loads(trainer.__getstate__()).items()
        state = state.get("bpe_trainer", state)
        options = TokenOptions(
            [state["vocab_size"]],
            state["min_frequency"],
            [token["content"] for token in state["special_tokens"]],
            state["limit_alphabet"],
            state["initial_alphabet"],
            state["continuing_subword_prefix"] or "",
            state["end_of_word_suffix"] or "",
            state["max_token_length"],
        )
        return cls(options, trainer.special_tokens, state["show_progress"])


def trainer_for(tokenizer: Tokenizer, trainer: Trainer | None) -> Any:
    """Return the trainer, or by default the one that the model of the tokenizer prefers.

    Raises
    ------
    WrongTypeError
        If the trainer does not belong to BPE or WordPiece, or not to this model.
    """
    chosen = tokenizer.model.get_trainer() if trainer is None else trainer
    kind, given = type(tokenizer.model).__name__, type(chosen).__name__
    if _TRAINERS.get(kind) != given:
        raise WrongTypeError(
            f"a {given} and the model {kind} cannot be used here: give a BpeTrainer and BPE, or a "
            "WordPieceTrainer and WordPiece."
        )
    return chosen


def parity_trainer(trainer: ParityBpeTrainer | None) -> ParityBpeTrainer:
    """Return the trainer, or by default one with the defaults of the library.

    Raises
    ------
    WrongTypeError
        If it is another trainer.
    """
    from tokenizers.trainers import ParityBpeTrainer

    chosen = ParityBpeTrainer() if trainer is None else trainer
    if not isinstance(chosen, ParityBpeTrainer):
        raise WrongTypeError(
            f"a {type(chosen).__name__} cannot be used here: give a ParityBpeTrainer, or one text "
            "to train_from_iterator."
        )
    return chosen


def train_in_place(
    tokenizer: Tokenizer, given: GivenTrainer, text: WordText, context: Context
) -> None:
    """Replace the vocabulary of a tokenizer by one that is trained on a text.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The tokenizer. It is not changed if training fails.
    given : GivenTrainer
        The content of the trainer.
    text : WordText
        The text.
    context : Context
        The worker threads and the report.

    Raises
    ------
    TrainingError
        If the text cannot be read.
    """
    words, texts = cut_text(text, _splitting_of(tokenizer), lambda: tokenizer, context)
    (tokens,) = train(words, texts, given.options, context)
    context.report.step("Writing")
    description: Json = json.loads(tokenizer.model.__getstate__())
    affixes = affixes_of(description["type"] == "BPE", given.options)
    tokenizer.model = _model_of(tokenizer.model, filled_model(description, tokens, affixes))
    tokenizer.add_special_tokens(given.special_tokens)
    context.report.costs()


def train_parity(
    tokenizer: Tokenizer,
    trainer: ParityBpeTrainer,
    texts: Sequence[tuple[WordText, WordText | None]],
    ratio: Sequence[float] | None,
    context: Context,
) -> None:
    """Replace the model of a tokenizer by BPE whose merges are chosen by several languages.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The tokenizer. It is not changed if training fails.
    trainer : ParityBpeTrainer
        The trainer.
    texts : sequence of (WordText, WordText or None)
        For each language, the text for training and the one for development.
    ratio : sequence of float, optional
        The ratios; by default, those of the trainer.
    context : Context
        The worker threads and the report.

    Raises
    ------
    TrainingError
        If a text cannot be read, or an option is not possible.
    """
    given = trainer.__getstate__()
    del given["show_progress"]
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        given[name] = given[name] or ""
    options = ParityTokenOptions(**given)._replace(
        special_tokens=[token.content for token in trainer.special_tokens],
        ratio=ratio or given["ratio"],
    )
    # Unlike other trainers, this one does not cut out added tokens.
    cutting = without_vocabulary(tokenizer, with_added_tokens=False)
    splitting = _splitting_of(cutting)

    def words_of(text: WordText) -> Words:
        return cut_text(text, splitting, lambda: cutting, context).words

    languages = [
        (words_of(training), None if development is None else words_of(development))
        for training, development in texts
    ]
    letter_texts = byte_texts() if splitting.are_bytes else None
    tokens = parity_token_trainer.train(languages, letter_texts, options, context)
    context.report.step("Writing")
    description: Json = json.loads(cutting.model.__getstate__())
    filled = filled_model(description, tokens, affixes_of(True, options))
    tokenizer.model = _model_of(cutting.model, filled)
    tokenizer.add_special_tokens(trainer.special_tokens)
    context.report.costs()


def train_fast(
    fast: Any, vocab_size: int, options: Mapping[str, Any], text: WordText, context: Context
) -> Any:
    """Return a tokenizer of transformers like a given one, trained on a text.

    The method ``train_new_from_iterator`` makes the new tokenizer, from an empty text. This gives
    the special tokens their ids, which no text changes. Then only the model is replaced.

    Parameters
    ----------
    fast : transformers.PreTrainedTokenizerFast
        The tokenizer, which is not changed.
    vocab_size : int
        The number of tokens.
    options : mapping
        The other arguments of ``train_new_from_iterator``.
    text : WordText
        The text.
    context : Context
        The worker threads and the report.

    Raises
    ------
    TrainingError
        If the model is neither BPE nor WordPiece, or the text cannot be read.
    """
    new = fast.train_new_from_iterator((), vocab_size, **{**options, "show_progress": False})
    tokenizer = new.backend_tokenizer
    document = json.loads(tokenizer.to_str())
    template = Template({**document, "added_tokens": []}, type(fast).__name__)
    special = [token["content"] for token in document["added_tokens"]]
    initial = byte_texts().values() if template.is_byte_level else options.get("initial_alphabet")
    given = TokenOptions(
        [vocab_size],
        options.get("min_frequency", 0),
        special,
        options.get("limit_alphabet"),
        [*(initial or ())],
        template.prefix_or(None),
        template.suffix_or(None),
        options.get("max_token_length"),
    )
    bare = tokenizer_of({**document, "added_tokens": [], "post_processor": None})
    train_in_place(bare, GivenTrainer(given, [], False), text, context)
    tokenizer.model = bare.model
    return new


def _splitting_of(tokenizer: Tokenizer) -> Splitting:
    """Return how a tokenizer cuts texts into words.

    Its added tokens are cut out of the text first, which only the library does. The library also
    has to cut the text if a part of the tokenizer is a Python object, which has no JSON.
    """
    if tokenizer.get_added_tokens_decoder():
        return Splitting()
    try:
        document = json.loads(tokenizer.to_str())
    except Exception:  # the library raises Exception itself
        return Splitting()
    return Template(document, "the tokenizer").splitting


def _model_of(model: Model, description: Json) -> Model:
    """Return a model of the same class with another description."""
    filled = type(model)()
    filled.__setstate__(json.dumps(description).encode())
    return filled
