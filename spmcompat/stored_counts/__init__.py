"""Counts as tables of rows, in memory and in Parquet files."""
