from typing import final

from spmcompat.runtime.cancel import CancelFlag

@final
class Crew:
    def __init__(self, size: int, cancel: CancelFlag) -> None: ...
