"""Each module on its own, with inputs chosen by hand."""
