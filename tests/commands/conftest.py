"""What these tests share: projects of their own, schedules."""

from tests.cadence.conftest import calendar, nothing_else
from tests.project import project

__all__ = ["calendar", "nothing_else", "project"]
