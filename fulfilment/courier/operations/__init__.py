"""What can be done about couriers, one function a file, named for its type."""
