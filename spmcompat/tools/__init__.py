"""Everything that works on trained models: one package for each tool."""
