"""The Unigram trainer: seeds, then rounds of EM and pruning, then the final pieces (Kudo 2018).

Modules that only some options need are imported where they are used, so that small runs start
quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.errors import NotFiniteError, TextTooSmallError
from spmcompat.runtime.context import Context
from spmcompat.runtime.runs import Runs
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.em.probabilities import log_sum
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.loop import Loop
from spmcompat.unigram.options import NO_LIMIT, UnigramOptions
from spmcompat.unigram.pieces import Pieces, finalize
from spmcompat.unigram.pruning.pruning import drop_unreachable
from spmcompat.unigram.seeding.seeds import seed_from_corpus, seed_from_counts, seed_from_merges

if TYPE_CHECKING:
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.unigram.rounds import Rounds


def train_sizes(
    corpus: Corpus,
    options: Sequence[UnigramOptions],
    context: Context,
    seed_lines: Iterable[bytes] = (),
) -> list[list[tuple[bytes, float]]]:
    """Train a Unigram model for each of several sizes.

    Each model equals the model of a separate run in every bit, because a step is shared only if it
    does not depend on the size:

    - All runs share the corpus.
    - Seeds depend on the size if ``seed_factor`` or ``min_freq_alpha`` is set, or if
      ``seed_sentencepiece_size`` is 0. Runs with equal `UnigramOptions.seeds_by` share the seeds
      and later steps. Groups of runs with different seeds are trained one after another.
    - EM does not depend on the size. A pruning keeps a fixed share of the pieces, but at least the
      number of pieces with which the run ends. So runs have the same pieces, with the same scores
      and in the same order, until a pruning keeps more pieces for one size than for another. The
      losses of that pruning are also shared. This is true for every value of ``prune``. In releases
      that check the number of pieces before a pruning, this check only decides which runs end.
    - With sparse pruning, only the penalty depends on the size. So all steps before the first step
      in which the penalties differ are shared.
    - With ``objective=fewest_tokens``, all steps before the pruning are shared.
    - The choice of the final pieces, and new scores for them, are not shared.

    When runs part, they continue one after another. A run that leaves the group uses a copy of the
    lattices; the runs that stay together come last and use the lattices themselves. So there is
    never more than one copy at a time.

    Parameters
    ----------
    corpus : Corpus
        The corpus. Training frees each part of it as soon as the part is no longer needed.
    options : sequence of UnigramOptions
        The options of each run. They differ only in `vocab_size` and `final_size`.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    seed_lines : iterable of bytes
        The lines of the seed file, if the options name one.

    Returns
    -------
    list of list of (bytes, float)
        For each run, the final pieces and their scores (float32), by descending score, then by
        bytes.

    Raises
    ------
    TrainingError
        If nothing is left to train.
    """
    runs = Runs(options)
    rounds = _rounds(context.on_round)
    groups: dict[object, list[UnigramOptions]] = {}
    for run in runs:
        groups.setdefault(run.seeds_by, []).append(run)
    final: dict[int, list[tuple[bytes, float]]] = {}
    for number, same_seeds in enumerate(groups.values(), 1):
        group, is_last = runs.part(same_seeds), number == len(groups)
        if group.sizes:
            context.report.info(f"Seeds for vocab_size {group.sizes}")
        training = _Training(corpus, is_last, context, rounds)
        with group.naming_errors():
            final |= training.train(group, seed_lines)
    return [final[run.vocab_size] for run in runs]


class _Training(NamedTuple):
    """The training of some runs that begin with the same seeds.

    Attributes
    ----------
    corpus : Corpus
        The corpus.
    is_last : bool
        Whether these are the last runs that need the corpus.
    context, rounds
        As for `train_sizes`.
    """

    corpus: Corpus
    is_last: bool
    context: Context
    rounds: Rounds | None

    def train(
        self, runs: Runs[UnigramOptions], seed_lines: Iterable[bytes]
    ) -> dict[int, list[tuple[bytes, float]]]:
        """Return the final pieces of each run, by the size of its vocabulary."""
        corpus, context, rounds = self.corpus, self.context, self.rounds
        options = runs.common
        counts: list[int] | None = None if rounds is None else []
        seeds = make_seeds(corpus, options, context, seed_lines, counts)
        if rounds is not None and counts is not None:
            rounds.seeds(seeds, counts)
        del counts
        lattices = self._build_lattices(seeds, options)
        del seeds  # The lattices contain the pieces from here on.
        return_freed_memory()
        context.report.info(f"Using {corpus.pretokens} sentences for EM training")
        if options.objective == "fewest_tokens":
            from spmcompat.unigram.fewest_tokens import train_fewest_tokens  # noqa: PLC0415

            return train_fewest_tokens(lattices, corpus.alphabet, runs, context, rounds)
        trained = self._loop(lattices, runs)
        del lattices  # Frees memory that `_finish` needs.
        return {
            run.common.vocab_size: self._finish(trained.pop(run.common.vocab_size), run)
            for run in sorted(runs.alone(), key=lambda run: run.common.vocab_size)
        }

    def _build_lattices(self, seeds: Pieces, options: UnigramOptions) -> Lattices:
        """Return the lattices over the seeds. Free the parts of the corpus that only seeding needs.

        The parts are not freed if other runs need them.
        """
        corpus = self.corpus
        if self.is_last:
            corpus.drop_uses()
            corpus.seed_text = None
        return_freed_memory()
        self.context.report.step("Building lattices")
        with_log1p = options.release.log_sum_exp_with_log1p
        lattices = Lattices(corpus, seeds, self.context.workers, with_log1p)
        if self.is_last and options.final_steps == 0:
            corpus.drop_texts()
        return lattices

    def _loop(self, lattices: Lattices, runs: Runs[UnigramOptions]) -> dict[int, Pieces]:
        """Return the pieces of each run after EM and pruning, by the size of its vocabulary."""
        corpus, context, rounds = self.corpus, self.context, self.rounds
        if runs.common.use_sparse_pruning:
            from spmcompat.unigram.pruning.sparse_pruning import prune_sparsely  # noqa: PLC0415

            return prune_sparsely(lattices, runs, context, rounds)
        alphabet = corpus.alphabet if runs.common.keeps_required else []
        required = frozenset(chr(character).encode() for character, _ in alphabet)
        return Loop(required, context, rounds).train(lattices, runs)

    def _finish(self, pieces: Pieces, run: Runs[UnigramOptions]) -> list[tuple[bytes, float]]:
        """Return the final pieces of a run."""
        corpus, context, rounds = self.corpus, self.context, self.rounds
        options = run.common
        context.report.step(run.named("Finishing"))
        if options.release.drops_unreachable and options.loop_size > options.final_size:
            trained = pieces
            pieces = drop_unreachable(pieces, context.workers)
            dropped = len(trained) - len(pieces)
            message = f"Dropped {dropped} unreachable pieces out of {len(trained)}"
            context.report.info(run.about(message))
            if rounds is not None:
                rounds.unreachable(trained, pieces)
            del trained
        alphabet = [] if options.auto_character_coverage else corpus.alphabet
        final = finalize(pieces, alphabet, options.final_size)
        if rounds is not None:
            rounds.final(pieces, final, [chr(character).encode() for character, _ in alphabet])
        return self._estimate_again(final, run)

    def _estimate_again(
        self, final: list[tuple[bytes, float]], run: Runs[UnigramOptions]
    ) -> list[tuple[bytes, float]]:
        """Estimate the scores of the final pieces once more if the options ask for it."""
        context, rounds = self.context, self.rounds
        options = run.common
        if options.final_estimate == "renormalize":
            shift = log_sum([score for _, score in final])
            scaled = [(piece, score - shift) for piece, score in final]
            if rounds is not None:
                rounds.rescored("renormalize", final, scaled)
            return scaled
        if options.final_steps == 0:
            return final
        with_log1p = options.release.log_sum_exp_with_log1p
        lattices = Lattices(self.corpus, Pieces(final), context.workers, with_log1p)
        steps = options._replace(num_sub_iterations=options.final_steps)
        with run.stage(context.report, "Final EM", options.final_steps) as stage:
            loop = Loop(frozenset(), context, rounds)
            loop.train_round(lattices, steps, stage, keep=True)
        return sorted(lattices.pieces, key=lambda item: (-item[1], item[0]))


def _rounds(on_round: OnRound | None) -> Rounds | None:
    """Return an object that reports each step to `on_round`, or None if `on_round` is None."""
    if on_round is None:
        return None
    from spmcompat.unigram.rounds import Rounds  # noqa: PLC0415

    return Rounds(on_round)


def make_seeds(
    corpus: Corpus,
    options: UnigramOptions,
    context: Context,
    seed_lines: Iterable[bytes] = (),
    seed_counts: list[int] | None = None,
) -> Pieces:
    """Return the seeds: from the seed file if the options name one, otherwise from the corpus.

    The counts of the seeds are appended to `seed_counts`, unless it is None.
    """
    if not corpus.alphabet:
        raise TextTooSmallError(
            "No character of the corpus is left to train on: its text consists only of meta "
            "pieces or delimiters. Check the user_defined_symbols and the control_symbols."
        )
    text = corpus if corpus.seed_text is None else corpus.seed_text
    if options.seed_sentencepieces_file:
        from spmcompat.unigram.seeding.seed_lines import parse_seed_lines  # noqa: PLC0415

        counts = parse_seed_lines(seed_lines, options.seed_sentencepieces_file, options.release)
        # In 0.2.3 without a seed file, 0 stands for a default (see `seed_limit`). With a seed file,
        # 0.2.3 takes 0 literally: only characters become seeds.
        limit = options.seed_sentencepiece_size
        seeds, skipped = seed_from_counts(
            text, counts, limit if limit >= 0 else NO_LIMIT, options.release, seed_counts
        )
        context.report.info(f"skipped {skipped} seed sentencepieces")
    elif options.seed_mode == "bpe":
        from spmcompat.bpe.trainer import make_merges  # noqa: PLC0415

        wanted = max(options.seed_limit - len(corpus.alphabet), 0)
        merges = make_merges(corpus.segment_counts(context.workers), wanted, context)
        seeds = seed_from_merges(corpus, merges, seed_counts)
        del merges
    else:
        seeds = seed_from_corpus(text, options, context, seed_counts)
    if len(seeds) == 0:
        raise TextTooSmallError(
            "The corpus has no seed pieces: all its characters are removed or unknown. Give "
            "more text or a higher character_coverage."
        )
    if options.release.seed_counts_are_positive and not seeds.all_finite:
        raise NotFiniteError(
            "[std::isfinite(score)] With seed_piece_length_power="
            f"{options.seed_piece_length_power:g} the score of a seed is not a finite number. "
            "Choose a power nearer to 1."
        )
    context.report.info(f"Initialized {len(seeds)} seed sentencepieces")
    return seeds
