"""The Unigram trainer: seeds, then EM and pruning in turn, then the final pieces (Kudo 2018)."""

from __future__ import annotations

from typing import NamedTuple

from spmcompat.corpus.corpus import Corpus, return_freed_memory
from spmcompat.errors import TrainingError
from spmcompat.progress import Report
from spmcompat.releases import DEFAULT, Release
from spmcompat.unigram.e_step import Lattices
from spmcompat.unigram.final import finalize
from spmcompat.unigram.m_step import m_step
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.prune import drop_unreachable, prune
from spmcompat.unigram.seed_file import read_seed_file
from spmcompat.unigram.seeding import NO_LIMIT, SeedRule, seed_from_corpus, seed_from_counts
from spmcompat.unigram.sizes import rounds_left, shrunk
from spmcompat.unigram.sparse_pruning import prune_sparsely
from spmcompat.workers import Workers


class UnigramOptions(NamedTuple):
    """What the trainer is told; names and defaults are those of the specification.

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
    release: Release = DEFAULT


def train(
    corpus: Corpus, options: UnigramOptions, workers: Workers, report: Report
) -> list[tuple[bytes, float]]:
    """Train a Unigram model.

    Parameters
    ----------
    corpus : Corpus
        What to train on.
    options : UnigramOptions
        How.
    workers : Workers
        Real threads; the result is the same for any number of them.
    report : Report
        Told the stages and their facts.

    Returns
    -------
    list of (bytes, float)
        The final pieces and their scores (float32), by score descending, bytes ascending.

    Raises
    ------
    TrainingError
        If nothing is left to train.
    """
    lattices = _seed_lattices(corpus, options, workers, report)
    return_freed_memory()
    report.info(f"Using {corpus.words} sentences for EM training")
    desired_size = int(options.vocab_size * 1.1)
    if options.use_sparse_pruning:
        debias, lanes = options.post_l1_debias, options.lanes
        pieces = prune_sparsely(lattices, desired_size, debias, lanes, workers, report)
    else:
        pieces = _prune_by_loss(lattices, desired_size, options, workers, report)
    report.step("Finishing")
    trained = len(pieces)
    pieces = drop_unreachable(pieces, workers)
    report.info(f"Dropped {trained - len(pieces)} unreachable pieces out of {trained}")
    required = [] if options.auto_character_coverage else corpus.alphabet
    return finalize(pieces, required, options.final_size)


def _seed_lattices(
    corpus: Corpus, options: UnigramOptions, workers: Workers, report: Report
) -> Lattices:
    """Return the lattices over the seeds; of the corpus is left what they need."""
    seeds = make_seeds(corpus, options, workers, report)
    corpus.drop_uses()
    return_freed_memory()
    report.step("Building lattices")
    lattices = Lattices(corpus, seeds, workers)
    corpus.drop_texts()
    return lattices


def _prune_by_loss(
    lattices: Lattices, desired_size: int, options: UnigramOptions, workers: Workers, report: Report
) -> Pieces:
    """Train and prune in turn until the pieces are as few as desired."""
    pieces = lattices.pieces
    with report.stage("EM and pruning", unit="passes") as stage:
        while True:
            stage.expect(_passes_left(len(pieces), desired_size, options))
            for iteration in range(options.num_sub_iterations):
                report.step("E-step")
                counts = lattices.expected_counts(options.lanes, report.wants_facts, workers)
                report.step("M-step")
                pieces, new_ids = m_step(pieces, counts)
                pieces.check()
                report.step("Renumbering")
                lattices.renumber(pieces, new_ids, workers)
                stage.advance()
                report.info(
                    f"EM sub_iter={iteration} size={len(pieces)} obj={counts.objective:g} "
                    f"num_tokens={counts.tokens}"
                )
            report.step("Counting best paths")
            counts = lattices.best_path_counts(options.lanes, workers)
            report.step("Pruning")
            size = max(desired_size, shrunk(len(pieces), options.shrinking_factor))
            pieces, new_ids = prune(lattices, counts, size, workers)
            pieces.check()
            stage.advance()
            if len(pieces) <= desired_size:
                return pieces
            report.step("Renumbering")
            lattices.renumber(pieces, new_ids, workers)


def make_seeds(corpus: Corpus, options: UnigramOptions, workers: Workers, report: Report) -> Pieces:
    """Return the seed pieces, from the corpus or from the file that the options name."""
    if not corpus.alphabet:
        raise TrainingError(
            "No character of the corpus is left to train on: all of its text is meta pieces or "
            "delimiters. Check the user_defined_symbols and the control_symbols."
        )
    if options.seed_sentencepieces_file:
        counts = read_seed_file(options.seed_sentencepieces_file)
        # Here 0 leaves no seed but the characters.
        limit = options.seed_sentencepiece_size
        seeds, skipped = seed_from_counts(corpus, counts, limit if limit >= 0 else NO_LIMIT)
        report.info(f"skipped {skipped} seed sentencepieces")
    else:
        rule = SeedRule(
            _seed_limit(options),
            options.seed_piece_length_power,
            options.min_freq_alpha,
            options.vocab_size,
        )
        seeds = seed_from_corpus(corpus, rule, workers, report)
    if len(seeds) == 0:
        raise TrainingError(
            "The corpus holds no seed pieces: all its characters are cut out or unknown. Give "
            "more text or a higher character_coverage."
        )
    if not seeds.all_finite:
        raise TrainingError(
            "[std::isfinite(score)] With seed_piece_length_power="
            f"{options.seed_piece_length_power:g} the score of a seed is no number or infinite. "
            "Choose a power nearer to 1."
        )
    report.info(f"Initialized {len(seeds)} seed sentencepieces")
    return seeds


def _seed_limit(options: UnigramOptions) -> int:
    """0 scales with the vocabulary; a negative number is no limit."""
    size = options.seed_sentencepiece_size
    if size == 0:
        return max(100_000, 8 * options.vocab_size)
    return size if size > 0 else NO_LIMIT


def _passes_left(size: int, desired_size: int, options: UnigramOptions) -> int:
    """Estimate the passes over the corpus until `size` pieces are pruned to the desired size."""
    rounds = rounds_left(size, desired_size, options.shrinking_factor)
    return rounds * (options.num_sub_iterations + 1)
