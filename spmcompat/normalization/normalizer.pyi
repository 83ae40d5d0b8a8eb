from collections.abc import Sequence
from typing import final

@final
class Normalizer:
    def __init__(
        self,
        charsmap: bytes = b"",
        *,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        escape_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
        symbols: Sequence[bytes] = (),
    ) -> None: ...
    def normalize(self, text: bytes) -> bytes: ...
    def normalize_raw_token(self, text: bytes) -> bytes: ...

def replace_meta_pieces(pieces: Sequence[bytes], text: bytes) -> bytes: ...
