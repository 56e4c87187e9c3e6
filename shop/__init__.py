"""The shop as a whole: what touches several of its components, from the command line."""
