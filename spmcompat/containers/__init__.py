"""General data structures, which do not depend on the rest of the package."""
