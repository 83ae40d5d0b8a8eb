"""The lattice of one pretoken, and the computations on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .heap import Agenda
from .seeding import Pieces

UNKNOWN_ID = 0
"""During training, an unknown character is counted for the first piece."""

UNKNOWN_PENALTY = np.float32(10)
ZERO = np.float32(0)
AGENDA_LIMIT = 10_000


class Vocabulary(NamedTuple):
    """The ids of pieces by text, and the score of an unknown character."""

    ids: Mapping[str, int]
    scores: list[np.float32]
    unknown_score: np.float32
    longest: int


def vocabulary(pieces: Pieces) -> Vocabulary:
    scores = [score for _, score in pieces]
    return Vocabulary(
        {text: number for number, (text, _) in enumerate(pieces)},
        scores,
        min(scores) - UNKNOWN_PENALTY,
        max(len(text) for text, _ in pieces),
    )


@dataclass(eq=False)
class Node:
    """A piece at a position. `best` is the score of the best path that ends with this node."""

    id: int
    begin: int
    length: int
    score: np.float32
    best: np.float32 = ZERO
    previous: Node | None = field(default=None, repr=False)


class Lattice:
    """The nodes of a text, grouped by begin (shortest first) and by end (longest first)."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        size = len(text)
        self.size = size
        self.beginning: list[list[Node]] = [[] for _ in range(size + 1)]
        self.ending: list[list[Node]] = [[] for _ in range(size + 1)]
        self.start = Node(-1, 0, 0, ZERO)
        self.finish = Node(-1, size, 0, ZERO)
        self.ending[0].append(self.start)
        self.beginning[size].append(self.finish)
        for begin in range(size):
            for end in range(begin + 1, min(begin + known.longest, size) + 1):
                number = known.ids.get(text[begin:end])
                if number is not None:
                    self._add(Node(number, begin, end - begin, known.scores[number]))
            if not any(node.length == 1 for node in self.beginning[begin]):
                self._add(Node(UNKNOWN_ID, begin, 1, known.unknown_score))

    def _add(self, node: Node) -> None:
        self.beginning[node.begin].append(node)
        self.ending[node.begin + node.length].append(node)

    def nodes(self) -> list[Node]:
        """Return the nodes of pieces, ordered by begin, then by length."""
        return [node for nodes in self.beginning[: self.size] for node in nodes]

    def forward(self) -> dict[Node, np.float32]:
        """Return, for each node, the log probability of all paths from the start to that node."""
        alpha = {self.start: ZERO}
        for position in range(self.size + 1):
            terms = [left.score + alpha[left] for left in self.ending[position]]
            total = log_sum_exp(terms)
            for right in self.beginning[position]:
                alpha[right] = total
        return alpha

    def backward(self) -> dict[Node, np.float32]:
        """Return, for each node, the log probability of all paths from that node to the end."""
        beta = {self.finish: ZERO}
        for position in range(self.size, -1, -1):
            terms = [right.score + beta[right] for right in self.beginning[position]]
            total = log_sum_exp(terms)
            for left in self.ending[position]:
                beta[left] = total
        return beta

    def add_marginals(self, frequency: int, expected: list[np.float32]) -> np.float32:
        """Add the marginal of each node, times the frequency, to the counts of a partial sum.

        Returns the log probability of the text, times its frequency.
        """
        alpha, beta = self.forward(), self.backward()
        weight = np.float32(frequency)
        total = alpha[self.finish]
        for node in self.nodes():
            share = math.exp(float(alpha[node] + node.score + beta[node] - total))
            expected[node.id] = np.float32(float(expected[node.id]) + float(weight) * share)
        return weight * total

    def best_path(self) -> tuple[list[Node], np.float32]:
        """Return the best path and its score. The first path wins a tie."""
        for position in range(self.size + 1):
            for right in self.beginning[position]:
                right.previous = None
                for left in self.ending[position]:
                    score = left.best + right.score
                    if right.previous is None or score > right.best:
                        right.previous, right.best = left, score
        path: list[Node] = []
        node = self.finish.previous
        while node is not None and node is not self.start:
            path.append(node)
            node = node.previous
        return path[::-1], self.finish.best

    def best_paths(self, wanted: int) -> list[list[Node]]:
        """Return the `wanted` best paths, found by A* from the end of the text.

        An entry of the agenda is a partial path, which reaches the end of the text, and its score.
        The estimate for the missing part of the path is exact, because the best path to the first
        node of the partial path is known.
        """
        self.best_path()
        paths: list[list[Node]] = []
        agenda: Agenda[Partial] = Agenda()
        agenda.push(self.finish.best, Partial(self.finish, None, ZERO))
        while len(agenda) and len(paths) < wanted:
            _, partial = agenda.pop()
            if partial.node is self.start:
                paths.append(partial.inner_nodes())
                continue
            for left in self.ending[partial.node.begin]:
                longer = Partial(left, partial, left.score + partial.score)
                agenda.push(left.best + partial.score, longer)
            if len(agenda) >= AGENDA_LIMIT:
                raise NotImplementedError("the reference shrinks its agenda here")
        return paths


@dataclass
class Partial:
    """A path to the end of the lattice: its first node, the path after it, and its score."""

    node: Node
    after: Partial | None
    score: np.float32

    def inner_nodes(self) -> list[Node]:
        """Return the nodes of pieces, without the start and the end of the lattice."""
        nodes: list[Node] = []
        rest = self.after
        while rest is not None and rest.after is not None:
            nodes.append(rest.node)
            rest = rest.after
        return nodes


def log_sum_exp(terms: list[np.float32]) -> np.float32:
    """Return the logarithm of a sum of probabilities, rounded after each term."""
    total = terms[0]
    for term in terms[1:]:
        low, high = min(total, term), max(total, term)
        if high > low + np.float32(50):
            total = high
        else:
            total = np.float32(float(high) + math.log1p(math.exp(float(low - high))))
    return total
