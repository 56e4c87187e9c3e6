"""What can be done about refunds, one function a file, named for its type."""
