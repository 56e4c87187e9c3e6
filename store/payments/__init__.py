"""Money that goes back to customers."""
