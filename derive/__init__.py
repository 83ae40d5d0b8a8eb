"""Scripts for developers: each writes files of the package that are made from something else.

``python -m derive.plan`` writes the files of the script ``plan``; with ``--check``, it compares
them instead.
"""
