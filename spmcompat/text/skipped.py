"""Records of the input that cannot be read."""


class Skipped:
    """Counts records that are left out on demand.

    Attributes
    ----------
    broken : int
        How many they are.
    first_broken : str
        Where the first of them is, and what is wrong with it.
    """

    def __init__(self) -> None:
        self.broken = 0
        self.first_broken = ""
