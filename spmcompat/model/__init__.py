"""The parts of a model: meta pieces, ids, the protobuf message, the two files."""
