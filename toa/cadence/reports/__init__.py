"""What a person asks for: lists by pages, counts, and whether all is well."""
