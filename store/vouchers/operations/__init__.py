"""What can be done with vouchers, one function a file, named for its type."""
