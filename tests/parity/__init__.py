"""Live comparison of the output of spmcompat with the output of the real library."""
