"""A naive implementation of the trainers: plain Python, one rounding at a time.

Compare a kernel that differs from the real library with it: it can be read and changed easily. It
is slow; use it on texts of a few hundred words.

``characters``  character coverage, unknown characters, words
``seeding``     which substrings become seeds, their scores
``lattice``     nodes, forward, backward, best path, two best paths
``merging``     the merges of BPE
``selection``   characters that compete with merges
``training``    E-step, M-step, pruning, unreachable pieces, final pieces, the whole run

A *sentence* is a pair of normalized text and frequency; *pieces* are a list of text and float32
score, whose order gives the ids. Scores are ``numpy.float32`` everywhere; what the reference
computes in double is a Python float, and is rounded once where the reference rounds.
"""
