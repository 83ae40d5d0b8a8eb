"""Where sentences come from: files, iterators, samples."""
