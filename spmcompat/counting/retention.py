"""Decides which data of each sentence are kept while the text is read."""

from __future__ import annotations

import threading

from spmcompat.counting.counts import Batch
from spmcompat.plan import Plan

# Until this number of bytes has been read, the pretokens of each sentence are kept, even if spaces
# are common. If pretokens are dropped but needed later, the text must be read again.
_SURE_BYTES = 1 << 19
# Replaces _SURE_BYTES if the text can be read only once.
_SURE_BYTES_READ_ONCE = 1 << 24


class SentenceLog:
    """The sentences of all batches, reduced to the data that later stages need.

    The pretokens of each sentence are needed if the space mark is not a required character: pieces
    may then cross spaces, so the pretokens of each sentence are joined again. The required
    characters are known only when the whole text has been read, so the pretokens are kept until
    then. They are dropped earlier if spaces are so common that the space mark will almost certainly
    be required. The pretokens are never dropped if those of the last sentences change the counts of
    seeds.

    Parameters
    ----------
    plan : Plan
        Determines which data later stages need.
    can_read_again : bool
        Whether the text can be read again if dropped pretokens are needed later.
    must_keep : bool
        Whether to keep the pretokens of every sentence in any case.

    Attributes
    ----------
    keeps_pretokens : bool
        Whether the pretokens of every sentence are kept.
    """

    def __init__(self, plan: Plan, can_read_again: bool, must_keep: bool = False) -> None:
        self._plan = plan
        self._sure_bytes = _SURE_BYTES if can_read_again else _SURE_BYTES_READ_ONCE
        self._must_keep = must_keep or plan.seeding.looks_at_text_end
        self._lock = threading.Lock()  # guards the attributes below
        self.keeps_pretokens = must_keep or plan.counting.keeps_pretokens
        self._batches: dict[int, Batch] = {}
        self._text_bytes = 0
        self._text_pretokens = 0
        self._filled = 0  # non-empty sentences
        # The number of batches at the beginning of the text whose sentences were dropped.
        self._dropped_batches = 0
        self._dropped_sentences = 0

    def add(self, index: int, batch: Batch) -> None:
        """Add the batch with this index. Several workers may call this at the same time."""
        if not self._plan.counting.keeps_contexts:
            return
        with self._lock:
            self._batches[index] = batch
            self._text_bytes += batch.text_bytes
            self._text_pretokens += batch.text_pretokens
            self._filled += batch.filled
            if self.keeps_pretokens and not self._must_keep and self._spaces_are_common():
                self.keeps_pretokens = False
                for earlier in self._batches.values():
                    earlier.drop_pretokens()
            if not self.keeps_pretokens:
                # This batch may have been counted while the pretokens were still kept.
                batch.drop_pretokens()
                if not self._plan.counting.keeps_order:
                    self._drop_sentences()

    def in_order(self) -> list[Batch]:
        """Return all batches in the order of the text."""
        return [self._batches[index] for index in range(len(self._batches))]

    def _spaces_are_common(self) -> bool:
        rare = 4 * (1 - self._plan.coverage.character_coverage) * self._text_bytes
        return self._text_bytes > self._sure_bytes and self._text_pretokens > rare

    def _drop_sentences(self) -> None:
        """Drop the sentences that cannot end the text, whatever is read later.

        The reference moves sentences only towards the beginning of the text, to the positions of
        empty sentences. So if n of the sentences that were read so far are not empty, then none of
        the first n - 1 sentences of the text can be the last one.
        """
        while batch := self._batches.get(self._dropped_batches):
            if self._dropped_sentences + batch.sentences >= self._filled:
                return
            batch.drop_sentences()
            self._dropped_batches += 1
            self._dropped_sentences += batch.sentences
