"""The Python interface.

To keep ``import spmcompat`` fast, its modules import only modules that Python has loaded at its
start. All other modules are imported when a function is called for the first time.
"""
