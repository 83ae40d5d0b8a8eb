"""The Unigram trainer: seeds, then rounds of EM and pruning, then the final pieces (Kudo 2018).

What only some options need is imported where it is used, so that small trainings start quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.errors import TrainingError
from spmcompat.releases import DEFAULT, Release
from spmcompat.runtime.memory import return_freed_memory
from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.em.e_step import best_path_counts, expected_counts
from spmcompat.unigram.em.m_step import m_step
from spmcompat.unigram.em.probabilities import log_sum
from spmcompat.unigram.final import finalize
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import LossWeights, drop_unreachable, find_losses, prune_flat
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
from spmcompat.unigram.seeding.seeds import (
    NO_LIMIT,
    SeedRule,
    seed_from_corpus,
    seed_from_counts,
    seed_from_merges,
)

if TYPE_CHECKING:
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.unigram.rounds import Rounds


class UnigramOptions(NamedTuple):
    """The options of a Unigram model; their names and defaults are those of the table of options.

    `lanes` is ``num_threads`` there: it fixes the order of the sums, not the number of threads.
    `final_size` is the vocabulary without its meta pieces. With `auto_character_coverage` no
    character is required.
    """

    vocab_size: int = 8000
    final_size: int = 7997
    seed_sentencepiece_size: int = 1_000_000
    seed_sentencepieces_file: str = ""
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    lanes: int = 16
    auto_character_coverage: bool = False
    use_sparse_pruning: bool = False
    post_l1_debias: bool = True
    seed_piece_length_power: float = 1.0
    min_freq_alpha: float = 0.0
    seed_mode: str = "full_text"
    prefix_recovery: bool = False
    seed_factor: float = 0.0
    objective: str = "likelihood"
    drop_unused: bool = False
    m_step: str = "digamma"
    early_prune_threshold: float = 0.5
    prune: str = "likelihood"
    prune_overshoot: float = 1.1
    final_estimate: str = "none"
    release: Release = DEFAULT

    @property
    def loop_size(self) -> int:
        """How many pieces end the loop of training and pruning."""
        overshoot = self.prune_overshoot
        return self.final_size if overshoot == 1 else _times(overshoot, self.vocab_size)

    @property
    def keeps_required(self) -> bool:
        """Whether required characters stay in every round.

        Else a required character that was dropped returns at the end with the lowest score, as in
        ``sentencepiece``. There thresholds are low and pruning by likelihood keeps most characters.
        """
        default = self._field_defaults["early_prune_threshold"]
        keeps = self.prune == "flat" or self.early_prune_threshold > default
        return keeps and not self.auto_character_coverage

    @property
    def final_steps(self) -> int:
        """Number of EM steps over the final pieces: N of ``final_estimate=em:N``."""
        name, _, steps = self.final_estimate.partition(":")
        return int(steps) if name == "em" else 0


def unigram_extensions(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extensions that a Unigram model is trained with, by name."""
    return {name: value for name, value in given.items() if name in UnigramOptions._fields}


def train(
    corpus: Corpus,
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    seed_lines: Iterable[bytes] = (),
    on_round: OnRound | None = None,
) -> list[tuple[bytes, float]]:
    """Train a Unigram model.

    Parameters
    ----------
    corpus : Corpus
        The corpus; its parts are dropped as soon as they are not needed.
    options : UnigramOptions
        The options of the trainer.
    workers : Workers
        Real threads; the result is the same for any number of them.
    report : Report
        Receives progress and log lines.
    seed_lines : iterable of bytes
        The lines of the seed file, if the options name one.
    on_round : callable, optional
        Is called with a `Round` after each step.

    Returns
    -------
    list of (bytes, float)
        The final pieces and their scores (float32), by score descending, bytes ascending.

    Raises
    ------
    TrainingError
        If nothing is left to train.
    """
    rounds = _rounds(on_round)
    counts: list[int] | None = None if rounds is None else []
    seeds = make_seeds(corpus, options, workers, report, seed_lines, counts)
    if rounds is not None and counts is not None:
        rounds.seeds(seeds, counts)
    del counts
    lattices = _build_lattices(corpus, seeds, options, workers, report)
    del seeds  # The lattices hold the pieces in training.
    return_freed_memory()
    report.info(f"Using {corpus.pretokens} sentences for EM training")
    if options.objective == "fewest_tokens":
        from spmcompat.unigram.fewest_tokens import (  # noqa: PLC0415
            FewestTokensOptions,
            train_fewest_tokens,
        )

        given = FewestTokensOptions(
            options.final_size, options.num_sub_iterations, options.lanes, options.drop_unused
        )
        return train_fewest_tokens(lattices, corpus.alphabet, given, workers, report, rounds)
    if options.use_sparse_pruning:
        from spmcompat.unigram.pruning.sparse_pruning import prune_sparsely  # noqa: PLC0415

        debias, lanes = options.post_l1_debias, options.lanes
        size = options.loop_size
        pieces = prune_sparsely(lattices, size, debias, lanes, workers, report, rounds)
    else:
        alphabet = corpus.alphabet if options.keeps_required else []
        required = frozenset(chr(character).encode() for character, _ in alphabet)
        pieces = _prune_by_loss(lattices, required, options, workers, report, rounds)
    del lattices  # Finishing needs memory too.
    report.step("Finishing")
    if options.release.drops_unreachable and options.loop_size > options.final_size:
        trained = pieces
        pieces = drop_unreachable(pieces, workers)
        dropped = len(trained) - len(pieces)
        report.info(f"Dropped {dropped} unreachable pieces out of {len(trained)}")
        if rounds is not None:
            rounds.unreachable(trained, pieces)
        del trained
    alphabet = [] if options.auto_character_coverage else corpus.alphabet
    final = finalize(pieces, alphabet, options.final_size)
    if rounds is not None:
        rounds.final(pieces, final, [chr(character).encode() for character, _ in alphabet])
    return _estimate_again(final, corpus, options, workers, report, rounds)


def _rounds(on_round: OnRound | None) -> Rounds | None:
    """Return what tells a caller about each step, if there is a caller."""
    if on_round is None:
        return None
    from spmcompat.unigram.rounds import Rounds  # noqa: PLC0415

    return Rounds(on_round)


def _build_lattices(
    corpus: Corpus, seeds: Pieces, options: UnigramOptions, workers: Workers, report: Report
) -> Lattices:
    """Return the lattices over the seeds. Drop what only the seeding needed of the corpus."""
    corpus.drop_uses()
    corpus.seed_text = None
    return_freed_memory()
    report.step("Building lattices")
    lattices = Lattices(corpus, seeds, workers, options.release.log_sum_exp_with_log1p)
    if options.final_steps == 0:
        corpus.drop_texts()
    return lattices


def _prune_by_loss(
    lattices: Lattices,
    required: frozenset[bytes],
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    rounds: Rounds | None,
) -> Pieces:
    """Alternate EM and pruning until the desired size is reached. `required` pieces stay."""
    desired_size = options.loop_size
    with report.stage("EM and pruning", unit="passes") as stage:
        while True:
            stage.expect(_passes_left(len(lattices.pieces), desired_size, options))
            if rounds is not None:
                rounds.begin()
            _train_round(lattices, options, workers, report, stage, rounds, required)
            before = len(lattices.pieces)
            if options.release.stops_before_pruning and before <= desired_size:
                return lattices.pieces
            size = max(desired_size, shrunk(before, options.shrinking_factor))
            pieces, new_ids = _pruned(lattices, size, required, options, workers, report, rounds)
            pieces.check()
            stage.advance()
            is_last = _reaches_size(pieces, desired_size, options) or _can_drop_nothing(
                pieces, before, options
            )
            if is_last and options.loop_size > options.final_size:
                return pieces
            report.step("Renumbering")
            lattices.renumber(pieces, new_ids, workers)
            del pieces, new_ids  # Without this, their memory stays until the next pruning.
            if is_last:
                _train_round(lattices, options, workers, report, stage, rounds, keep=True)
                return lattices.pieces


def _reaches_size(pieces: Pieces, desired_size: int, options: UnigramOptions) -> bool:
    """Tell whether this pruning is the last because few enough pieces are left.

    Releases that stop before a pruning check the size there instead.
    """
    return not options.release.stops_before_pruning and len(pieces) <= desired_size


def _can_drop_nothing(pieces: Pieces, before: int, options: UnigramOptions) -> bool:
    """Tell whether this pruning is the last because the text needs every piece.

    Exact pruning keeps all pieces that the text needs, even more than the desired size. Pruning by
    likelihood keeps all pieces only if the search for alternatives gave up, and then the reference
    goes on.
    """
    return options.prune == "exact" and len(pieces) == before


def _train_round(
    lattices: Lattices,
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    stage: Stage,
    rounds: Rounds | None,
    required: frozenset[bytes] = frozenset(),
    *,
    keep: bool = False,
) -> None:
    """Run the EM steps of one round; with `keep` no piece is dropped, else no `required` one."""
    for iteration in range(options.num_sub_iterations):
        report.step("E-step")
        counts = expected_counts(lattices, options.lanes, workers)
        report.step("M-step")
        threshold, ml = options.early_prune_threshold, options.m_step == "ml"
        pieces, new_ids = m_step(lattices.pieces, counts, workers, threshold, ml, keep, required)
        pieces.check()
        objective = counts.objective
        if rounds is not None:
            least = None if keep else threshold
            rounds.em(lattices.pieces, counts, pieces, new_ids, least, objective)
        del counts  # Renumbering holds the most memory.
        report.step("Renumbering")
        lattices.renumber(pieces, new_ids, workers)
        stage.advance()
        report.info(f"EM sub_iter={iteration} size={len(pieces)} obj={objective:g}")


def _pruned(
    lattices: Lattices,
    size: int,
    required: frozenset[bytes],
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    rounds: Rounds | None,
) -> tuple[Pieces, NewIds]:
    """Return the `size` best pieces by the criterion of the options, and their new ids."""
    before = lattices.pieces
    if options.prune == "flat":
        report.step("Pruning")
        pieces, new_ids = prune_flat(before, size, keep_first=required)
        if rounds is not None:
            rounds.prune_flat(before, pieces, new_ids, required)
        return pieces, new_ids
    if options.prune == "exact":
        from spmcompat.unigram.pruning.exact_pruning import find_exact_losses  # noqa: PLC0415

        report.step("Pruning")
        exact = find_exact_losses(lattices, workers)
        pieces, new_ids = exact.select(size)
        if rounds is not None:
            rounds.prune_by_loss(before, exact.as_list(), None, pieces, new_ids)
        return pieces, new_ids
    report.step("Counting best paths")
    counts = best_path_counts(lattices, options.lanes, workers)
    report.step("Pruning")
    weights = (
        LossWeights.by_pretokens(lattices, counts, options.lanes, workers)
        if options.release.weighs_losses_by_pretokens
        else LossWeights.by_pieces(counts)
    )
    losses = find_losses(lattices, counts, weights, workers, options.release.limits_two_best)
    pieces, new_ids = losses.select(size)
    if rounds is not None:
        rounds.prune_by_loss(before, losses.as_list(), counts, pieces, new_ids)
    return pieces, new_ids


def _estimate_again(
    final: list[tuple[bytes, float]],
    corpus: Corpus,
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    rounds: Rounds | None,
) -> list[tuple[bytes, float]]:
    """Estimate the scores of the final pieces once more if the options ask for it."""
    if options.final_estimate == "renormalize":
        shift = log_sum([score for _, score in final])
        scaled = [(piece, score - shift) for piece, score in final]
        if rounds is not None:
            rounds.rescored("renormalize", final, scaled)
        return scaled
    if options.final_steps == 0:
        return final
    lattices = Lattices(corpus, Pieces(final), workers, options.release.log_sum_exp_with_log1p)
    steps = options._replace(num_sub_iterations=options.final_steps)
    with report.stage("Final EM", options.final_steps, "passes") as stage:
        _train_round(lattices, steps, workers, report, stage, rounds, keep=True)
    return sorted(lattices.pieces, key=lambda item: (-item[1], item[0]))


def make_seeds(
    corpus: Corpus,
    options: UnigramOptions,
    workers: Workers,
    report: Report,
    seed_lines: Iterable[bytes] = (),
    seed_counts: list[int] | None = None,
) -> Pieces:
    """Return the seeds: from the lines of the seed file, if the options name one, or the corpus.

    The counts of the seeds are appended to the list `seed_counts`, if one is given.
    """
    if not corpus.alphabet:
        raise TrainingError(
            "No character of the corpus is left to train on: all of its text is meta pieces or "
            "delimiters. Check the user_defined_symbols and the control_symbols."
        )
    text = corpus if corpus.seed_text is None else corpus.seed_text
    if options.seed_sentencepieces_file:
        from spmcompat.unigram.seeding.seed_lines import parse_seed_lines  # noqa: PLC0415

        counts = parse_seed_lines(seed_lines, options.seed_sentencepieces_file, options.release)
        # With a seed file, 0 does not stand for the default: then only characters become seeds.
        limit = options.seed_sentencepiece_size
        seeds, skipped = seed_from_counts(
            text, counts, limit if limit >= 0 else NO_LIMIT, options.release, seed_counts
        )
        report.info(f"skipped {skipped} seed sentencepieces")
    elif options.seed_mode == "bpe":
        from spmcompat.bpe.trainer import make_merges  # noqa: PLC0415

        wanted = max(_seed_limit(options) - len(corpus.alphabet), 0)
        merges = make_merges(corpus.segment_counts(), wanted, workers, report)
        seeds = seed_from_merges(corpus, merges, seed_counts)
        del merges
    else:
        rule = SeedRule(
            _seed_limit(options),
            options.seed_piece_length_power,
            options.min_freq_alpha,
            options.vocab_size,
            options.seed_mode == "pretokens",
            options.prefix_recovery,
        )
        seeds = seed_from_corpus(text, rule, workers, report, options.release, seed_counts)
    if len(seeds) == 0:
        raise TrainingError(
            "The corpus holds no seed pieces: all its characters are cut out or unknown. Give "
            "more text or a higher character_coverage."
        )
    if options.release.seed_counts_are_positive and not seeds.all_finite:
        raise TrainingError(
            "[std::isfinite(score)] With seed_piece_length_power="
            f"{options.seed_piece_length_power:g} the score of a seed is no number or infinite. "
            "Choose a power nearer to 1."
        )
    report.info(f"Initialized {len(seeds)} seed sentencepieces")
    return seeds


def _seed_limit(options: UnigramOptions) -> int:
    """Return the largest number of seeds besides the characters.

    A negative option means no limit. 0 scales with the vocabulary in 0.2.3.
    """
    if options.seed_factor > 0:
        return _times(options.seed_factor, options.vocab_size)
    size = options.seed_sentencepiece_size
    if size == 0 and options.release.scales_seed_size:
        return max(100_000, 8 * options.vocab_size)
    return size if size >= 0 else NO_LIMIT


def _times(factor: float, vocab_size: int) -> int:
    """Return the factor times the size, at most `NO_LIMIT`: the product may be infinite."""
    return int(min(factor * vocab_size, NO_LIMIT))


def _passes_left(size: int, desired_size: int, options: UnigramOptions) -> int:
    """Estimate the passes over the corpus until the desired size is reached."""
    rounds = rounds_left(size, desired_size, options.shrinking_factor)
    return rounds * (options.num_sub_iterations + 1)
