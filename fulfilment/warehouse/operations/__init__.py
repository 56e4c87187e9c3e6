"""What the warehouse can be asked, one function a file, named for its type."""
