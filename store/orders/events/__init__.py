"""What others may hear about orders."""
