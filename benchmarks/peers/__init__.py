"""What Django teams use instead, each as its documentation shows, on the same servers."""
