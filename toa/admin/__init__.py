"""Lists of toa's own tables in Django's admin: to look at, not to change. Django loads them by itself."""

from toa.admin.known import ComponentAdmin, ProcessAdmin, PulseAdmin
from toa.admin.live import DelayAdmin, DeliveryAdmin
from toa.admin.records import FailureAdmin, HistoryAdmin

__all__ = [
    "ComponentAdmin",
    "DelayAdmin",
    "DeliveryAdmin",
    "FailureAdmin",
    "HistoryAdmin",
    "ProcessAdmin",
    "PulseAdmin",
]
