"""The tools that work on trained models: one package for each tool."""
