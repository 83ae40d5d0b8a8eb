"""Trains the tokenizers of the library ``tokenizers`` with the options of its own trainers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.bpe import token_trainer
from spmcompat.bpe.token_trainer import ParityTokenOptions, TokenOptions, Tokens, byte_texts
from spmcompat.errors import BadValueError, WrongTypeError
from spmcompat.huggingface.reading import tokenizer_of, without_vocabulary
from spmcompat.huggingface.template import Json, Splitting, Template, filled_model
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
        special = [token["content"] for token in state["special_tokens"]]
        options = _options_of(state["vocab_size"], special, state)
        return cls(options, trainer.special_tokens, state["show_progress"])


def _options_of(size: int, special: Sequence[str], state: Mapping[str, Any]) -> TokenOptions:
    """Return the options of a trainer, which may leave out those without a value."""
    return TokenOptions(
        [size],
        state.get("min_frequency", 0),
        special,
        state.get("limit_alphabet"),
        state.get("initial_alphabet") or [],
        state.get("continuing_subword_prefix") or "",
        state.get("end_of_word_suffix") or "",
        state.get("max_token_length"),
    )


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
    splitting = _splitting_of(tokenizer)
    words = cut_text(text, splitting, lambda: tokenizer, context)
    (tokens,) = token_trainer.train(words, splitting.are_bytes, given.options, context)
    _fill(tokenizer, tokenizer.model, tokens, given, context)


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
    state = trainer.__getstate__()
    special = [token.content for token in trainer.special_tokens]
    given = GivenTrainer(
        _options_of(state["num_merges"], special, state), trainer.special_tokens, False
    )
    has_window = state["variant"] == "window"
    if has_window and state["window_size"] < 1:
        raise BadValueError(f"window_size must be at least 1, not {state['window_size']}.")
    parity = ParityTokenOptions(
        ratio or state["ratio"],
        state["global_merges"],
        state["window_size"] if has_window else 0,
        state["alpha"],
        state["total_symbols"],
    )
    # Unlike other trainers, this one does not cut out added tokens.
    cutting = without_vocabulary(tokenizer, with_added_tokens=False)
    splitting = _splitting_of(cutting)

    def words_of(text: WordText) -> Words:
        return cut_text(text, splitting, lambda: cutting, context)

    languages = [
        (words_of(training), None if development is None else words_of(development))
        for training, development in texts
    ]
    (tokens,) = token_trainer.train_parity(
        languages, splitting.are_bytes, given.options, parity, context
    )
    _fill(tokenizer, cutting.model, tokens, given, context)


def _fill(
    tokenizer: Tokenizer, model: Model, tokens: Tokens, given: GivenTrainer, context: Context
) -> None:
    """Replace the model of a tokenizer by one like `model` with a trained vocabulary."""
    context.report.step("Writing")
    description: Json = json.loads(model.__getstate__())
    affixes = affixes_of(description["type"] == "BPE", given.options)
    filled = type(model)()
    filled.__setstate__(json.dumps(filled_model(description, tokens, affixes)).encode())
    tokenizer.model = filled
    tokenizer.add_special_tokens(given.special_tokens)
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
    given = _options_of(
        vocab_size,
        special,
        {
            **options,
            "initial_alphabet": [*(initial or ())],
            "continuing_subword_prefix": template.prefix_or(None),
            "end_of_word_suffix": template.suffix_or(None),
        },
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
