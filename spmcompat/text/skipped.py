"""Records of the input that are no sentences."""


class Skipped:
    """Counts records that are left out.

    Attributes
    ----------
    nulls : int
        Records that hold no text.
    broken : int
        Records that cannot be read; they are skipped only on demand.
    first_broken : str
        Where the first of these is, and what is wrong with it.
    """

    def __init__(self) -> None:
        self.nulls = 0
        self.broken = 0
        self.first_broken = ""
