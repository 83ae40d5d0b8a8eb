"""Reading from HTTP servers: with byte ranges, without byte ranges, and with errors."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

import spmcompat
from tests.kinds import raises_kind
from tests.parity import corpora

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

# Longer than what fsspec reads at a time (5 MiB), and hardly compressible.
TEXT = corpora.words_text(7, 300).encode() * 400


class _Server(BaseHTTPRequestHandler):
    """The path selects the response: the text (``ranges`` or ``stream``) or an error (``500``)."""

    protocol_version = "HTTP/1.1"
    content = TEXT

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        kind = self.path.strip("/").partition(".")[0]
        if kind.isdigit():
            self.send_response(int(kind))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = gzip.compress(self.content, 0) if self.path.endswith(".gz") else self.content
        size = len(body)
        wanted = self.headers.get("Range", "")
        if kind == "ranges" and wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last or size - 1), size - 1)
            body = body[begin : end + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        else:
            self.send_response(200)
        if kind == "ranges":
            self.send_header("Accept-Ranges", "bytes")
        if kind == "sizeless":
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def train(**options: Any) -> bytes:
    written = io.BytesIO()
    spmcompat.train(
        model_writer=written,
        model_type="char",
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def pieces(model: bytes) -> list[str]:
    from spmcompat.model.sentencepiece_model_pb2 import ModelProto

    return [str(piece) for piece in ModelProto.FromString(model).pieces]


@pytest.mark.parametrize("name", ["ranges.txt", "stream.txt", "sizeless.txt", "stream.txt.gz"])
def test_servers_with_and_without_ranges(name: str, address: str) -> None:
    expected = pieces(train(sentence_iterator=TEXT.splitlines()))
    assert pieces(train(input=f"{address}/{name}")) == expected


def test_an_error_of_the_server_is_not_a_missing_file(address: str) -> None:
    with raises_kind("cannot-read 500") as caught:
        train(input=f"{address}/500")
    assert "No such file" not in str(caught.value)


def test_a_missing_file_is_one(address: str) -> None:
    with raises_kind("cannot-read No such file or directory"):
        train(input=f"{address}/404")


def test_parquet_from_a_server_without_ranges(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    written = io.BytesIO()
    # fsspec reads the file in two blocks, so the first block does not contain the end of the file.
    pq.write_table(
        pa.table({"text": TEXT.decode().splitlines()}),
        written,
        compression="none",
        use_dictionary=False,
    )
    monkeypatch.setattr(_Server, "content", written.getvalue())
    plain = pieces(train(sentence_iterator=TEXT.splitlines()))
    assert pieces(train(input=f"{address}/ranges.parquet")) == plain
    for name in ("stream.parquet", "sizeless.parquet"):
        with raises_kind(f"cannot-read {name}"):
            train(input=f"{address}/{name}")
