"""What these tests share: projects of their own, schedules."""

from tests.cadence.conftest import calendar
from tests.project import project

__all__ = ["calendar", "project"]
