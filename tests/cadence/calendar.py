"""What the tests of schedules share: one schedule at a time, and the history as the facts that matter."""

from toa.cadence.syncing import sync
from toa.core.clock import to_datetime, to_moment
from toa.models import History, Pulse, Schedule

NOTE = "components.almanacs.note"
EXACT = "components.almanacs.exact"
STAMP = "components.almanacs.stamp"

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


class Calendar:
    """Declares schedules of the test component by the settings, and tells what became of them."""

    def __init__(self, settings, clock):
        self._settings = settings
        self.clock = clock

    def declare(self, *entries, endpoint=NOTE, **keys):
        """Have the endpoint called as the keys say (or the entries of a list, or none), and sync; returns the sync."""
        # Of the manifest's own schedule only what the test does not say would be left, such as its zone.
        value = list(entries) or ({"zone": "UTC", **keys} if keys else None)
        cadence = {NOTE: None, EXACT: None, STAMP: None, **self._settings.TOA.get("CADENCE", {}), endpoint: value}
        self._settings.TOA = {**self._settings.TOA, "CADENCE": cadence}
        done = sync()
        paused = to_datetime(self.clock.now)
        Pulse.objects.update(wake_at=None, paused_at=paused)
        others = Schedule.objects.exclude(endpoint__startswith="components.almanacs.").filter(paused_at=None)
        others.update(wake_at=None, due_at=None, paused_at=paused)
        return done

    def row(self, endpoint=NOTE, name=""):
        return Schedule.objects.get(endpoint=endpoint, name=name)

    def next(self, endpoint=NOTE):
        """The next occurrence, epoch ms."""
        due = self.row(endpoint).due_at
        return None if due is None else to_moment(due)

    def history(self, *outcomes):
        """Outcome, moment and count of the lines in order; all, or of these outcomes."""
        rows = History.objects.filter(source="schedule").order_by("id")
        if outcomes:
            rows = rows.filter(outcome__in=outcomes)
        return [(line.outcome, to_moment(line.due_at), line.count) for line in rows]
