"""The Python interface.

To keep ``import spmcompat`` fast, these modules import only modules that Python itself loads at its
start. All other modules are imported when a function is called for the first time.
"""
