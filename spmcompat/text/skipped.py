"""Counts the records of the input that are skipped before the lines are filtered."""


class Skipped:
    """Counts skipped records.

    Attributes
    ----------
    broken : int
        Number of records that cannot be read.
    first_broken : str
        The place of the first broken record, and what is wrong with it.
    too_long : int
        Number of records that are too long to be kept in memory.
    first_too_long : str
        The place of the first record that is too long.
    """

    def __init__(self) -> None:
        self.broken = 0
        self.first_broken = ""
        self.too_long = 0
        self.first_too_long = ""
