"""The Python interface.

Its modules import only modules that Python has already loaded, so that ``import spmcompat`` is
fast. The first call of a function imports the rest.
"""
