"""New pieces for lattices, as a step that drops pieces returns them."""

from __future__ import annotations

from typing import NamedTuple

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces


class Renumbering(NamedTuple):
    """New pieces for lattices, and for each old piece its id among the new pieces."""

    pieces: Pieces
    new_ids: NewIds

    def apply(self, lattices: Lattices, workers: Workers, *, copy: bool) -> Lattices:
        """Replace the pieces of the lattices, or of a copy of them if `copy` is true."""
        changed = lattices.copy() if copy else lattices
        changed.renumber(self.pieces, self.new_ids, workers)
        return changed
