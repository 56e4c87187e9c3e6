"""What can be done with a membership, one function a file, named for its type."""
