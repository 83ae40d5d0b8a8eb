"""The Python interface.

Its modules import only what Python itself has imported before, so that ``import spmcompat`` takes
no time. The first call of a function imports the rest.
"""
