from typing import final

from spmcompat.model.sentencepiece_model_pb2 import ModelProto

@final
class Encoder:
    def __init__(
        self, model: ModelProto, *, scores_in_float: bool, loses_control_pieces: bool
    ) -> None: ...
    def encode(self, text: bytes) -> list[bytes]: ...
