"""The shop's store: the components that customers meet."""
