from spmcompat.unigram.pieces import Pieces

def finalize(
    pieces: Pieces, alphabet: list[tuple[int, int]], size: int
) -> list[tuple[bytes, float]]: ...
