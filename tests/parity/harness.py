"""Trains spmcompat and the reference on a case, and compares every byte that they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from spmcompat.model.reading import parse

from . import difference
from .case import DEFAULT_RELEASE, SERIALIZED, Case, Option, Outcome
from .environments import NOTHING_ELSE, python_of_release
from .sides import NORMALIZER, OURS, REFERENCE, Side

Text = str | bytes


@dataclass(frozen=True)
class Comparison:
    """The outcomes of both sides of a case, and their differences."""

    case: Case
    ours: Outcome
    reference: Outcome

    @property
    def differences(self) -> list[str]:
        return difference.describe(self.ours, self.reference)

    @property
    def equal(self) -> bool:
        """Whether both sides wrote the same bytes, or failed in the same way."""
        return not self.differences

    def report(self) -> str:
        """Return the differences between the outputs, and between the numbers in the logs."""
        lines = [f"options: {dict(self.case.options)}", *self.differences]
        lines += difference.stage_by_log(self.ours.log, self.reference.log)
        return "\n".join(lines)


class Trainers:
    """Runs spmcompat and releases of the reference, each in its own process; a context manager.

    Parameters
    ----------
    ours, reference
        Modules with ``train(case)``.
    timeout
        Time limit of each process for one case, in seconds.
    """

    def __init__(
        self, ours: str = OURS, reference: str = REFERENCE, timeout: float = 600.0
    ) -> None:
        self.ours = Side(ours, timeout)
        self.reference = Side(reference, timeout)
        self._sides = {(REFERENCE, DEFAULT_RELEASE): self.reference}
        self._timeout = timeout

    def __enter__(self) -> Trainers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.ours.close()
        for side in self._sides.values():
            side.close()

    def run(self, case: Case) -> Comparison:
        """Train with spmcompat and the reference at the same time."""
        side = self.of_release(case.release)
        self.ours.start(self._with_normalizer_of_release(case))
        side.start(case)
        reference = side.finish()
        return Comparison(case, self.ours.finish(), reference)

    def _with_normalizer_of_release(self, case: Case) -> Case:
        """Return the case with its normalizer serialized by the library of its release."""
        if case.normalizer is None or case.release == DEFAULT_RELEASE:
            return case
        outputs = self.of_release(case.release, NORMALIZER).run(case).outputs
        return replace(case, normalizer=outputs) if SERIALIZED in outputs else case

    def of_release(self, release: str, module: str = REFERENCE) -> Side:
        """Return the reference, running in the interpreter that has this release.

        Raises
        ------
        MissingEnvironmentError
            If there is no such interpreter and none can be installed.
        """
        if (module, release) not in self._sides:
            python = python_of_release(release)
            self._sides[module, release] = Side(module, self._timeout, python, NOTHING_ELSE)
        return self._sides[module, release]

    def compare(self, options: Mapping[str, Option], *texts: Text, **more: Any) -> Comparison:
        """Train spmcompat and the reference on text files, and compare the results.

        Parameters
        ----------
        options
            Keywords other than ``input`` and ``model_prefix``.
        texts
            One input file each.
        more
            Further fields of `Case`.
        """
        return self.run(file_case(options, texts, **more))

    def check(self, options: Mapping[str, Option], *texts: Text, **more: Any) -> Comparison:
        """Compare; fail the test with a report if bytes differ or training failed."""
        comparison = self.compare(options, *texts, **more)
        self._require_equal(comparison)
        return comparison

    def check_sentences(
        self, options: Mapping[str, Option], sentences: Sequence[Text], **more: Any
    ) -> Comparison:
        """Compare as `check` does, with sentences from an iterator."""
        comparison = self.run(sentences_case(options, sentences, **more))
        self._require_equal(comparison)
        return comparison

    def check_failure(self, case: Case, *, key: str = "") -> Comparison:
        """Require that both trainers raise the same type of error, with `key` in the messages."""
        comparison = self.run(case)
        assert comparison.reference.failure is not None, "the reference did not fail"
        assert comparison.equal, comparison.report()
        assert comparison.ours.failure is not None
        assert key in comparison.reference.failure.message
        if case.form == "python":
            # Errors of functions name keywords, not flags.
            own_key = key.replace("--", "")
            assert own_key in comparison.ours.failure.message, comparison.ours.failure
        else:
            assert key in comparison.ours.log, comparison.ours.log
        return comparison

    def _require_equal(self, comparison: Comparison) -> None:
        assert comparison.equal, self.explain(comparison)
        assert comparison.ours.failure is None, comparison.report()
        assert comparison.ours.output(".model"), "no model was written"

    def explain(self, comparison: Comparison) -> str:
        """Describe a difference, and run variants of the case to find the stage that causes it."""
        lines = [comparison.report()]
        kind = str(comparison.case.options.get("model_type", "unigram")).lower()
        both_trained = comparison.ours.failure is None and comparison.reference.failure is None
        if kind == "unigram" and both_trained:
            for stage, probe in stage_probes(comparison):
                verdict = "equal" if self.run(probe).equal else "DIFFERENT"
                lines.append(f"  stage, {stage}: {verdict}")
        return "\n".join(lines)


def file_case(options: Mapping[str, Option], texts: Sequence[Text], **more: Any) -> Case:
    """Return a case whose texts are input files."""
    named = {f"text{number}.txt": as_bytes(text) for number, text in enumerate(texts)}
    own = {"input": ",".join(named), "model_prefix": "m"}
    files = {**named, **more.pop("files", {})}
    return Case(options={**own, **options}, files=files, **more)


def sentences_case(options: Mapping[str, Option], sentences: Sequence[Text], **more: Any) -> Case:
    """Return a case whose sentences come from an iterator."""
    own: dict[str, Option] = {} if more.get("writer") else {"model_prefix": "m"}
    return Case(options={**own, **options}, sentences=list(sentences), **more)


def as_bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


HUGE = {"vocab_size": 1 << 22, "hard_vocab_limit": False}
"""With this size, training ends after one round, and the model has the scores of that round."""


def stage_probes(comparison: Comparison) -> list[tuple[str, Case]]:
    """Return variants of a case, by stage. The first variant that differs shows the faulty stage.

    The last variant uses the reference's final pieces as seeds. If it is the only equal variant,
    the difference comes from seeding.
    """
    case = comparison.case

    def variant(**options: Option) -> Case:
        return replace(case, options={**case.options, **options})

    model = comparison.reference.output(".model")
    assert model is not None
    pieces = [piece.piece for piece in parse(model).pieces if piece.type == 1]
    seeds = "".join(f"{piece}\t{len(pieces) - at}\n" for at, piece in enumerate(pieces))
    seeded = variant(seed_sentencepieces_file="probe-seeds.tsv")
    return [
        ("one E-step, M-step, prune of the seeds", variant(**HUGE, num_sub_iterations=1)),
        ("one whole round", variant(**HUGE)),
        ("the same, num_threads=1", variant(**HUGE, num_threads=1)),
        ("all rounds, one sub-iteration", variant(num_sub_iterations=1)),
        (
            "with the final pieces as a seed file",
            replace(seeded, files={**case.files, "probe-seeds.tsv": seeds.encode()}),
        ),
    ]
