"""vocab.txt: one piece on each line."""

import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.tools.export import vocab_txt
from spmcompat.tools.export.targets import NotVerifiableError
from spmcompat.tools.export.verifying import verify
from tests.unit.tools.export.small_models import BPE, PIECE, TEXT, UNIGRAM, made, trained


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
def test_the_number_of_a_line_is_the_id(kind: str) -> None:
    model = trained(kind, byte_fallback=kind == "bpe")
    processor = SentencePieceProcessor(model_proto=model.SerializeToString())
    lines = vocab_txt.files(model)[""].decode().split("\n")
    assert lines.pop() == ""
    assert lines == [processor.id_to_piece(one) for one in range(processor.get_piece_size())]
    ids = {line: number for number, line in enumerate(lines)}
    for line in TEXT:
        pieces = processor.encode(line, out_type=str)
        known = [piece for piece in pieces if piece in ids]
        assert [ids[piece] for piece in known] == [processor.piece_to_id(one) for one in known]


@pytest.mark.parametrize("symbol", ["\n", "a\rb", "\r\n"])
def test_ends_of_lines_in_pieces_are_refused(symbol: str) -> None:
    model = made(BPE, [("a", -1.0), (symbol, 0.0, PIECE.USER_DEFINED), ("b", -2.0)])
    [limit] = vocab_txt.limits(model)
    assert limit.refuses
    assert repr(symbol) in limit.line


def test_it_is_told_that_nothing_encodes_with_a_list() -> None:
    [limit] = vocab_txt.limits(made(UNIGRAM, [("a", -1.0), ("\u2581", -2.0)]))
    assert not limit.refuses
    assert "no scores" in limit.text


@pytest.mark.parametrize("piece", ["\t", "a ", "\u00a0", "\u3000b", "\u2028"])
def test_pieces_that_begin_or_end_with_white_space_are_told(piece: str) -> None:
    model = made(UNIGRAM, [("a", -1.0), (piece, -2.0)])
    _, limit = vocab_txt.limits(model)
    assert not limit.refuses
    assert repr(piece) in limit.line
    assert vocab_txt.files(model)[""].decode().split("\n")[4] == piece


def test_the_verification_says_that_there_is_none() -> None:
    model = made(UNIGRAM, [("a", -1.0)])
    found = verify(model, vocab_txt, vocab_txt.files(model), ["a"])
    assert found.problem == "not verified: a list of pieces cannot encode a text."
    assert (found.lines, found.different) == (0, 0)
    with pytest.raises(NotVerifiableError):
        vocab_txt.load("anywhere")
