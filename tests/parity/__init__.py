"""Live comparison of what spmcompat writes with what the real library writes."""
