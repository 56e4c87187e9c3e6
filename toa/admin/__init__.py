"""Pages of toa in Django's admin: to look at what waits and what became of it, and to act. Django loads them itself."""

from toa.admin.clock_page import ClockAdmin
from toa.admin.deadlines import DeadlineAdmin
from toa.admin.deliveries import DeliveryAdmin
from toa.admin.ended_runs import EndedRunAdmin
from toa.admin.entities.pages import EntityAdmin
from toa.admin.known import ComponentAdmin, LockAdmin, ProcessAdmin
from toa.admin.live import DelayAdmin, ScheduledCallAdmin
from toa.admin.records import FailureAdmin, HistoryAdmin, RevisionAdmin
from toa.admin.rhythms import PulseAdmin, ScheduleAdmin
from toa.admin.runs import RunAdmin

__all__ = [
    "ClockAdmin",
    "ComponentAdmin",
    "DeadlineAdmin",
    "DelayAdmin",
    "DeliveryAdmin",
    "EndedRunAdmin",
    "EntityAdmin",
    "FailureAdmin",
    "HistoryAdmin",
    "LockAdmin",
    "ProcessAdmin",
    "PulseAdmin",
    "RevisionAdmin",
    "RunAdmin",
    "ScheduleAdmin",
    "ScheduledCallAdmin",
]
