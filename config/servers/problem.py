"""What is raised when a server cannot be had."""


class ServerProblem(Exception):
    """A server cannot be found or started. The message is a sentence for the person at the keyboard."""
