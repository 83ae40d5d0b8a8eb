"""Tests of single modules, with inputs chosen by hand."""
