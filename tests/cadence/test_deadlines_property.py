"""T19: whatever happens in whatever order, each event and each deadline of an instance takes effect once, in its place.

Two instances are changed by people, reached by events, jumped over by the clock, crashed, retried, discarded and
worked on from two sides. What took effect is read from the revisions, which are written with it.
"""

import os
import sys

import pytest
from django.conf import settings as django_settings
from django.db import connection
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import toa
from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from tests.components.tallies.models import Tally
from tests.together import together
from toa.cadence.actions.failures import discard, retry
from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime, to_moment
from toa.models import Delivery, Failure, History, Pulse, Revision
from toa.testing.crashes import Crash, crash

CLAIMS, TALLIES = "components.claims", "components.tallies"
HOUR = 3_600_000
DAY = 24 * HOUR
DEADLINES = ("a", "b", "chain")
TABLES = (
    "components_claims_claim, components_tallies_tally, components_ledgers_ledger, toa_delay, toa_delivery,"
    " toa_failure, toa_history, toa_revision, toa_once"
)
SHARE = int(os.environ.get("TOA_PROPERTY_RUNS", "8"))
"""How many runs are made where the slow tests are left out."""

subjects = st.integers(0, 1)


class Instances(RuleBasedStateMachine):
    """What people, clocks, crashes and passes do to two instances; `clock` is the test's."""

    clock = None
    broken = None
    """The first error of all runs."""

    def __init__(self):
        super().__init__()
        at_a.TRIES.clear()
        self.ids = [toa.call(f"{TALLIES}.create", {"name": f"t{number}"})["id"] for number in range(2)]
        self.clock.run_until_idle()
        for identity in self.ids:
            toa.call(f"{CLAIMS}.set", {}, id=identity)
        self.happened = {identity: [] for identity in self.ids}
        """When each event of an instance's tally happened."""
        self.decided = set()
        """Instances about whose failure somebody decided."""

    @rule(subject=subjects)
    def event(self, subject):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=self.ids[subject])
        self._note(subject)

    @rule(
        subject=subjects,
        name=st.sampled_from(DEADLINES),
        other=st.sampled_from(DEADLINES),
        offset=st.sampled_from([0, 1, 1_000, HOUR]),
    )
    def arm(self, subject, name, other, offset):
        moment = self.clock.now + offset
        toa.call(f"{CLAIMS}.set", {name: moment, other: moment}, id=self.ids[subject])

    @rule(name=st.sampled_from(DEADLINES), other=st.sampled_from(DEADLINES), offset=st.sampled_from([0, 1_000]))
    def arm_both(self, name, other, offset):
        """What comes due together goes through one round together."""
        moment = self.clock.now + offset
        for identity, which in zip(self.ids, (name, other), strict=True):
            toa.call(f"{CLAIMS}.set", {which: moment}, id=identity)

    @rule(subject=subjects, name=st.sampled_from(DEADLINES))
    def clear(self, subject, name):
        toa.call(f"{CLAIMS}.set", {name: None}, id=self.ids[subject])

    @rule(subject=subjects, mode=st.sampled_from([None, None, "broken", "deaf", "flaky", "clears b"]))
    def behave(self, subject, mode):
        at_a.TRIES.clear()
        toa.call(f"{CLAIMS}.set", {"mode": mode}, id=self.ids[subject])

    @rule(ms=st.sampled_from([1, 500, 2_500, HOUR, 5 * HOUR, DAY]))
    def jump(self, ms):
        self.clock.set(self.clock.now + ms)

    @rule()
    def work(self):
        run_pass(Collected())

    @rule()
    def idle(self):
        self.clock.run_until_idle()

    @rule(place=st.integers(0, 60), after=st.booleans())
    def die(self, place, after):
        try:
            with crash(place, after=after):
                self.clock.run_until_idle()
        except Crash:
            connection.close()

    @rule(subject=subjects)
    def side_by_side(self, subject):
        identity = self.ids[subject]
        acts = [
            lambda: run_pass(Collected()),
            lambda: run_pass(Collected()),
            lambda: toa.call(f"{TALLIES}.add", {"by": 1}, id=identity),
        ]
        results = together(3, lambda index: acts[index]())
        assert not [result for result in results if isinstance(result, Exception)], results
        self._note(subject)

    @rule(subject=subjects, mode=st.sampled_from(["broken", "deaf"]))
    def stop(self, subject, mode):
        """An instance stops, and events come to it meanwhile."""
        identity = self.ids[subject]
        toa.call(f"{CLAIMS}.set", {"mode": mode, "a": self.clock.now}, id=identity)
        for _ in range(2):
            self.clock.run_until_idle()
            self.event(subject)
        self.clock.run_until_idle()

    @rule(place=st.integers(0, 120), after=st.booleans())
    def mend(self, place, after):
        """Whoever works on what a retry brings back dies somewhere on the way."""
        self.retry(True)
        self.die(place, after)

    # No preconditions: what is there to decide about is the database's to know, and would make runs differ.
    @rule(mend=st.booleans())
    def retry(self, mend):
        failure = Failure.objects.order_by("at", "id").first()
        if failure is not None:
            self._decide(failure, mend)
            retry(failure.id, by="ann")

    @rule(luck=st.integers(0, 3))
    def discard(self, luck):
        failure = Failure.objects.order_by("at", "id").first()
        # Seldom: nothing runs for the instance afterwards.
        if failure is not None and luck == 0:
            self._decide(failure, False)
            discard(failure.id, by="ann")

    def teardown(self):
        try:
            broken = sys.exc_info()[1]
            if broken is not None:
                raise broken
            self._come_to_rest()
            for identity in self.ids:
                self._check(identity)
        except Exception as error:
            # Threads and crashes make a run differ from its repetition: the first error is the one to tell.
            Instances.broken = Instances.broken or error
            raise
        finally:
            with connection.cursor() as cursor:
                cursor.execute(f"TRUNCATE {TABLES} CASCADE")

    def _note(self, subject):
        identity = self.ids[subject]
        self.happened[identity].append(to_moment(Tally.objects.get(id=identity).updated_at))

    def _decide(self, failure, mend):
        identity = failure.entity.partition(":")[2]
        self.decided.add(identity)
        if mend:
            toa.call(f"{CLAIMS}.set", {"mode": None}, id=identity)

    def _come_to_rest(self):
        """Long enough for every back-off and every wait."""
        self.clock.run_until_idle()
        for _ in range(3):
            self.clock.advance("1m")

    def _check(self, identity):
        row = Claim.objects.get(id=identity)
        assert row.clock_state in (None, "failed", "discarded", "closed"), "a drain was left half done"
        heard = [int(text.removeprefix("updated ")) for text in row.log if str(text).startswith("updated")]
        assert heard == list(range(1, len(heard) + 1)), f"events out of order, lost or repeated: {heard}"
        if row.clock_state is None:
            assert len(heard) == len(self.happened[identity]), f"events lost: {heard}"
            due = [name for name in DEADLINES if (at := getattr(row, name)) and at <= to_datetime(self.clock.now)]
            assert (due, row.held_at) == ([], None), "something due was left undone"
            assert not Delivery.objects.filter(receiver=CLAIMS, target=identity).exists()
        if row.clock_state == "failed":
            assert Failure.objects.filter(call__isnull=False).exists(), "stopped, and nobody is told"
        self._check_revisions(identity, row)
        lines = History.objects.filter(entity=f"{CLAIMS}:{identity}", outcome="made").values_list("call", flat=True)
        assert len(lines) == len(set(lines)), "a call was made twice"

    def _check_revisions(self, identity, row):
        pending = dict.fromkeys(DEADLINES)
        reached = []
        for revision in Revision.objects.filter(component=CLAIMS, entity=identity).order_by("version"):
            changes = revision.changes
            if revision.reached in DEADLINES:
                moment, name = to_moment(revision.moment), revision.reached
                assert pending[name] == moment, f"{name} was reached at {moment}, and stood at {pending[name]}"
                assert changes[name][0] == moment, f"{name} was reached twice for one setting"
                first = min((at, other) for other, at in pending.items() if at is not None)
                assert first == (moment, name), f"{name} ran before {first[1]}"
                if name == "chain":
                    assert changes[name][1] == moment + DAY, "the chain drifted"
                reached.append(moment if name == "chain" else name)
            elif revision.endpoint == f"{CLAIMS}.hear" and "updated" in str(changes["log"][1][-1]):
                happened = self.happened[identity][int(changes["log"][1][-1].removeprefix("updated ")) - 1]
                late = [name for name, at in pending.items() if at is not None and at <= happened]
                assert not late or identity in self.decided, f"an event ran before {late}, which came first"
            pending |= {name: change[1] for name, change in changes.items() if name in pending}
        assert {name: at and to_datetime(at) for name, at in pending.items()} == {
            name: getattr(row, name) for name in DEADLINES
        }
        ran = [entry for entry in row.log if entry in ("a", "b") or isinstance(entry, int)]
        assert ran == reached, "what ran is not what was reached"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("setwise", "runs"),
    [
        (True, SHARE),
        (False, max(1, SHARE // 2)),
        pytest.param(True, 500, marks=pytest.mark.slow),
        pytest.param(False, 500, marks=pytest.mark.slow),
    ],
)
def test_T19_whatever_happens_each_takes_effect_once_and_in_its_place(runs, setwise, toa_clock, settings):
    settings.TOA = {**django_settings.TOA, "SETWISE": setwise}
    Pulse.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    Instances.clock = toa_clock
    Instances.broken = None
    try:
        run_state_machine_as_test(
            Instances,
            settings=hypothesis_settings(
                max_examples=runs,
                stateful_step_count=24,
                deadline=None,
                # The share is the same in every run of the tests; the large one looks for something new.
                derandomize=runs != 500,
                database=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate] if runs != 500 else [Phase.generate, Phase.shrink],
            ),
        )
    except Exception:
        if Instances.broken is not None:
            raise Instances.broken from None
        raise
