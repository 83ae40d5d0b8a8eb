"""What a model is made of: meta pieces, ids, the message, the two files."""
