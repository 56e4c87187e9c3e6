"""What can happen to the process of an order, one function a file, named for its type."""
