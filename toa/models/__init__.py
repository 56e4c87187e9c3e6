"""The base of every component's model, and the tables of toa itself."""

from toa.models.calls import Delay, Delivery
from toa.models.components import Component, Pulse
from toa.models.entity import Entity
from toa.models.processes import ClockOffset, Process
from toa.models.records import Failure, History, Once, Outcome

__all__ = [
    "ClockOffset",
    "Component",
    "Delay",
    "Delivery",
    "Entity",
    "Failure",
    "History",
    "Once",
    "Outcome",
    "Process",
    "Pulse",
]
