"""The oracle for EM, pruning and the final vocabulary, and for the whole training."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from .characters import Options, Sentence, cover, pretokens
from .lattice import ZERO, Lattice, Vocabulary, vocabulary
from .seeding import Pieces, log_probabilities, seed

LEAST_EXPECTED = np.float32(0.5)
REQUIRED_STEP = np.float32(0.0001)
LEAST_SPARSE = np.float32(0.0001)

Sums = list[np.float32]


def e_step(
    pieces: Pieces, sentences: list[Sentence], partial_sums: int
) -> tuple[Sums, np.float32, int]:
    """Return the expected count of each piece, the objective, and the number of tokens.

    Sentence i is added to partial sum i mod `partial_sums`; the partial sums are added in order.
    """
    known = vocabulary(pieces)
    total_frequency = np.float32(sum(frequency for _, frequency in sentences))
    expected: Sums = []
    objective, tokens = ZERO, 0
    for partial_sum in range(partial_sums):
        counts = [ZERO] * len(pieces)
        partial_objective = ZERO
        for text, frequency in sentences[partial_sum::partial_sums]:
            lattice = Lattice(text, known)
            log_probability = lattice.add_marginals(frequency, counts)
            partial_objective -= log_probability / total_frequency
            tokens += frequency * len(lattice.best_path()[0])
        expected = _added(expected, counts)
        objective = partial_objective if partial_sum == 0 else objective + partial_objective
    return expected, objective, tokens


def _added(total: Sums, partial_sum: Sums) -> Sums:
    if not total:
        return partial_sum
    return [a + b for a, b in zip(total, partial_sum, strict=True)]


def m_step(
    pieces: Pieces,
    expected: Sums,
    threshold: float = 0.5,
    always_kept: Collection[str] = (),
) -> Pieces:
    """Drop pieces with an expected count below the threshold; score the others with digamma.

    The count of a piece that is always kept is raised to 0.5 if it is lower.
    """
    kept = [
        (text, max(count, LEAST_EXPECTED) if text in always_kept else count)
        for (text, _), count in zip(pieces, expected, strict=True)
        if count >= threshold or text in always_kept
    ]
    total = ZERO
    for _, count in kept:
        total += count
    log_total = float(np.float32(digamma(float(total))))
    return [(text, np.float32(digamma(float(count)) - log_total)) for text, count in kept]


def digamma(x: float) -> float:
    """Return digamma(x): raise x to 7 or more by the recurrence, then use the asymptotic series."""
    result = 0.0
    while x < 7:
        result -= 1 / x
        x += 1
    x -= 0.5
    second = (1 / x) * (1 / x)
    fourth = second * second
    result += (
        math.log(x)
        + (1 / 24) * second
        - (7 / 960) * fourth
        + (31 / 8064) * fourth * second
        - (127 / 30720) * fourth * fourth
    )
    return result


def two_best(piece: str, pieces: Pieces) -> list[list[int]]:
    """Return the ids on the best and the second-best path of a piece's own text."""
    return _two_best(piece, vocabulary(pieces))


def _two_best(piece: str, known: Vocabulary) -> list[list[int]]:
    return [[node.id for node in path] for path in Lattice(piece, known).best_paths(2)]


def best_path_counts(pieces: Pieces, sentences: list[Sentence], partial_sums: int) -> Sums:
    """Return how often each piece is on the best paths, added in the order of the partial sums."""
    known = vocabulary(pieces)
    total = [ZERO] * len(pieces)
    for partial_sum in range(partial_sums):
        counts = [ZERO] * len(pieces)
        for text, frequency in sentences[partial_sum::partial_sums]:
            for node in Lattice(text, known).best_path()[0]:
                counts[node.id] += np.float32(frequency)
        total = _added(total, counts)
    return total


def prune(pieces: Pieces, sentences: list[Sentence], options: Options) -> Pieces:
    """Return the pieces with the greatest losses, ordered by their new ids."""
    found = losses(pieces, sentences, options)
    kept = [piece for piece, loss in zip(pieces, found, strict=True) if loss == math.inf]
    ranked = [(number, loss) for number, loss in enumerate(found) if loss not in (None, math.inf)]
    size = _next_size(len(pieces), options)
    for number, _ in sorted(ranked, key=lambda item: (-item[1], item[0])):  # type: ignore[operator]
        if len(kept) == size:
            break
        kept.append(pieces[number])
    return kept


def losses(pieces: Pieces, sentences: list[Sentence], options: Options) -> list[np.float32 | None]:
    """Return the loss of each piece.

    The loss is infinite if there is no alternative to the piece. It is None if the piece is not on
    any best path of the text, or is not the best path of its own text.
    """
    counts = best_path_counts(pieces, sentences, options.num_threads)
    total = np.float32(math.fsum(map(float, counts)))
    known = vocabulary(pieces)
    found: list[np.float32 | None] = []
    for number, (text, _) in enumerate(pieces):
        paths = _two_best(text, known)
        if counts[number] == 0 or (len(paths) > 1 and len(paths[0]) > 1):
            found.append(None)
        elif len(paths) == 1:
            found.append(np.float32(math.inf))
        else:
            found.append(loss(counts, total, number, paths[1]))
    return found


def prune_flat(pieces: Pieces, size: int, always_kept: Collection[str]) -> Pieces:
    """Keep the pieces with the highest scores, and those that are always kept."""
    ranked = sorted(pieces, key=lambda piece: (piece[0] not in always_kept, -piece[1]))
    stay = {text for text, _ in ranked[:size]}
    return [piece for piece in pieces if piece[0] in stay]


def loss(counts: Sums, total: np.float32, number: int, alternative: list[int]) -> np.float32:
    """Return the loss of likelihood if the alternative of a piece replaces it everywhere."""
    count = counts[number]
    log_total = np.float32(math.log(float(total)))
    with_piece = np.float32(math.log(float(count)) - float(log_total))
    more_tokens = total + count * np.float32(len(alternative) - 1)
    log_more_tokens = float(np.float32(math.log(float(more_tokens))))
    without = ZERO
    for part in alternative:
        term = math.log(float(counts[part] + count)) - log_more_tokens
        without = np.float32(float(without) + term)
    return (count / total) * (with_piece - without)


def rise(penalty: np.float32, expected: Sums, options: Options) -> np.float32:
    """Return the penalty of the next step.

    The penalty rises to the largest count among the pieces that must be dropped to reach the size
    of the next step. It does not rise if the desired size has nearly been reached.
    """
    size, desired = len(expected), _desired_size(options)
    if size <= desired * 1.05:
        return penalty
    shrunk = int(np.float32(size) * np.float32(0.75))
    return max(penalty, sorted(expected, reverse=True)[max(desired, shrunk)])


def sparse_step(pieces: Pieces, expected: Sums, penalty: np.float32) -> Pieces:
    """Drop pieces with a count below the penalty; subtract the penalty from the other counts."""
    return log_probabilities(
        [
            (text, max(LEAST_SPARSE, count - penalty))
            for (text, _), count in zip(pieces, expected, strict=True)
            if count >= penalty
        ]
    )


def prune_sparsely(pieces: Pieces, sentences: list[Sentence], options: Options) -> Pieces:
    """Run EM with a rising penalty until a round begins with few enough pieces."""
    penalty = ZERO
    for _ in range(51):
        size = len(pieces)
        expected = e_step(pieces, sentences, options.num_threads)[0]
        penalty = rise(penalty, expected, options)
        pieces = sparse_step(pieces, expected, penalty)
        if size <= _desired_size(options):
            break
    if options.post_l1_debias:
        expected = e_step(pieces, sentences, options.num_threads)[0]
        pieces = sparse_step(pieces, expected, ZERO)
    return pieces


def _desired_size(options: Options) -> int:
    return int(options.vocab_size * 1.1)


def _next_size(size: int, options: Options) -> int:
    return max(_desired_size(options), int(np.float32(options.shrinking_factor) * np.float32(size)))


def unreachable(pieces: Pieces) -> set[int]:
    """Return the ids of pieces whose own text has a strictly better path without them."""
    known = vocabulary(pieces)
    beaten = set()
    for number, (text, score) in enumerate(pieces):
        lattice = Lattice(text, known)
        itself = next(node for node in lattice.beginning[0] if node.length == len(text))
        itself.score = np.float32("-inf")
        if lattice.best_path()[1] > score:
            beaten.add(number)
    return beaten


def finalize(pieces: Pieces, required: Mapping[str, int], options: Options) -> Pieces:
    """Return the required characters and the best other pieces, as many as fit, sorted by score."""
    scores = dict(pieces)
    least = min(score for _, score in pieces)
    final: dict[str, np.float32] = {}
    step = ZERO
    for character in sorted(required, key=lambda c: (-required[c], c)):
        if character in scores:
            final[character] = scores[character]
        else:
            final[character] = least + step
            step += REQUIRED_STEP
    for text, score in _sorted(scores.items()):
        if text not in final:
            if len(final) == options.vocab_size - options.meta_pieces:
                break
            final[text] = score
    return _sorted(final.items())


def _sorted(pieces: Iterable[tuple[str, np.float32]]) -> Pieces:
    return sorted(pieces, key=lambda piece: (-piece[1], piece[0]))


def train(
    sentences: Iterable[Sentence],
    options: Options,
    seeder: Callable[[list[Sentence], Options], Pieces] = seed,
    report: Callable[[str, object], None] = lambda stage, value: None,
    threshold: float = 0.5,
    flat: bool = False,
) -> Pieces:
    """Train on normalized sentences; `report` receives the pieces after each stage.

    With a threshold above the default, or with flat pruning, the required characters are always
    kept.
    """
    covered, required = cover(sentences, options)
    if len(required) + options.meta_pieces > options.vocab_size:
        # Without this check, pruning would never reach the vocabulary size, and would not end.
        raise ValueError("Vocabulary size is smaller than required_chars.")
    pieces = seeder(covered, options)
    report("seeds", pieces)
    counted = pretokens(covered, options)
    always_kept = set(required) if flat or threshold > LEAST_EXPECTED else set()
    if options.use_sparse_pruning:
        return _finish(prune_sparsely(pieces, counted, options), required, options)
    while True:
        for _ in range(options.num_sub_iterations):
            expected, objective, tokens = e_step(pieces, counted, options.num_threads)
            report("e_step", (expected, objective, tokens))
            pieces = m_step(pieces, expected, threshold, always_kept)
            report("m_step", pieces)
        if flat:
            pieces = prune_flat(pieces, _next_size(len(pieces), options), always_kept)
        else:
            pieces = prune(pieces, counted, options)
        report("prune", pieces)
        if len(pieces) <= _desired_size(options):
            return _finish(pieces, required, options)


def _finish(pieces: Pieces, required: Mapping[str, int], options: Options) -> Pieces:
    beaten = unreachable(pieces)
    pieces = [piece for number, piece in enumerate(pieces) if number not in beaten]
    return finalize(pieces, required, options)
