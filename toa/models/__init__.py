"""The base of every component's model, and the tables of toa itself."""

from toa.models.calls import Delay, Delivery, ScheduledCall
from toa.models.components import Component, Pulse, Schedule
from toa.models.entity import Entity
from toa.models.locks import Lock
from toa.models.processes import ClockOffset, Process
from toa.models.records import Failure, History, Once, Outcome
from toa.models.revisions import Revision
from toa.models.runs import EndedRun, Run, RunCall, RunStep

__all__ = [
    "ClockOffset",
    "Component",
    "Delay",
    "Delivery",
    "EndedRun",
    "Entity",
    "Failure",
    "History",
    "Lock",
    "Once",
    "Outcome",
    "Process",
    "Pulse",
    "Revision",
    "Run",
    "RunCall",
    "RunStep",
    "Schedule",
    "ScheduledCall",
]
