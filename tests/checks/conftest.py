"""What these tests share: projects of their own."""

from tests.project import project

__all__ = ["project"]
