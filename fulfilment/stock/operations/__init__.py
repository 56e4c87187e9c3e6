"""What can be done with stock, one function a file, named for its type."""
