"""A second, naive implementation of the trainers: plain Python, one rounding at a time.

If a kernel disagrees with the real library, compare it with this code, which is easy to read. It is
slow: use it on texts of a few hundred words.

- ``characters``: character coverage, unknown characters, pretokens
- ``seeding``: seeds and their scores
- ``lattice``: nodes, forward, backward, best path, two best paths
- ``training``: E-step, M-step, pruning, unreachable pieces, final pieces, the whole run
- ``fewest_tokens``: hard EM and one pruning, with exact fractions
- ``merging``: the merges of BPE
- ``selection``: characters that compete with merges
- ``resampling``: the bootstrap: units of a text, draws, percentiles

A *sentence* is a pair of normalized text and frequency. *Pieces* are a list of pairs of text and
float32 score; their order gives the ids. Scores are always ``numpy.float32``. A value that the
reference computes in double is a Python float, rounded once where the reference rounds.
"""
