"""A site with the API of the benchmarks' components, and the same written by hand beside it."""
