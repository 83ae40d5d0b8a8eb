"""How good a model is: loss, tokens and boundaries on a text, for any ``.model`` file."""
