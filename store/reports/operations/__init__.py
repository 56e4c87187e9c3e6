"""What can be done with reports, one function a file, named for its type."""
