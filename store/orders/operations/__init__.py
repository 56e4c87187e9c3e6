"""What can be done with orders, one function a file, named for its type."""
