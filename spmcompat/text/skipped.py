"""Records of the input that are left out before lines are filtered."""


class Skipped:
    """Counts records that are left out.

    Attributes
    ----------
    broken : int
        Number of records that cannot be read.
    first_broken : str
        Where the first of them is, and what is wrong with it.
    too_long : int
        Number of records that are too long to be held in memory.
    first_too_long : str
        Where the first of them is.
    """

    def __init__(self) -> None:
        self.broken = 0
        self.first_broken = ""
        self.too_long = 0
        self.first_too_long = ""
