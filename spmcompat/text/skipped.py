"""Counts the records of the input that are skipped before the lines are filtered."""

from spmcompat.errors import BrokenRecordError


class Skipped:
    """Counts skipped records.

    Attributes
    ----------
    broken : int
        Number of records that cannot be read.
    first_broken : str
        The place of the first broken record, and what is wrong with it.
    huge : int
        Number of records that are too long to be kept in memory.
    first_huge : str
        The place of the first of these records.
    """

    def __init__(self) -> None:
        self.broken = 0
        self.first_broken = ""
        self.huge = 0
        self.first_huge = ""

    def add_broken(self, number: int, first: str, is_allowed: bool) -> None:
        """Count broken records.

        Parameters
        ----------
        number : int
            The number of broken records.
        first : str
            Where the first broken record is, and what is wrong with it.
        is_allowed : bool
            Whether the user allows broken records to be skipped.

        Raises
        ------
        TrainingError
            If the user does not allow broken records to be skipped.
        """
        self.broken += number
        self.first_broken = self.first_broken or first
        if not is_allowed:
            raise BrokenRecordError(
                f"{first} Repair the line, or give --skip_bad_records to skip broken lines; "
                "--input_format=text reads lines as they are."
            )
