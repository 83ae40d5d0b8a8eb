"""The trainers once more, naive: plain Python and one rounding at a time.

It exists so that a kernel that disagrees with the real library can be held against something that
can be read and taken apart. Speed is no aim: use it on texts of a few hundred words.

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
