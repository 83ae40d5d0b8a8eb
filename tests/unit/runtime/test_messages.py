"""Messages that cannot be written do not end a training run."""

import io
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime.messages import Messages
from spmcompat.runtime.progress import Report
from tests.parity import corpora


class Full(io.StringIO):
    """A stream to a full disk."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        self.write("")


class Terminal(Full):
    """A terminal that was closed."""

    def isatty(self) -> bool:
        return True


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = [None, Full(), closed()]


@pytest.mark.parametrize("stream", STREAMS)
def test_what_cannot_be_written_is_dropped(stream: io.StringIO | None) -> None:
    messages = Messages(stream)
    assert messages.write("text") == 4
    messages.flush()


@pytest.mark.parametrize("stream", [*STREAMS, Terminal()])
def test_training_ends_without_messages(
    stream: io.StringIO | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    text = corpora.words_text(seed=5, lines=80, types=60)
    spmcompat.train(
        sentence_iterator=text.splitlines(),
        model_prefix=tmp_path / "m",
        vocab_size=60,
        hard_vocab_limit=False,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.model", "m.vocab"]


def test_an_error_of_the_program_itself_is_not_dropped() -> None:
    class Interrupted(io.StringIO):
        def write(self, _: str) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Report(0, Interrupted()).info("text")
