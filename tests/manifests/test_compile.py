"""What a manifest means once it is read: defaults filled in, short forms written out, inherited things there."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.manifests.cases import cases
from toa.core.specs import (
    ComponentSpec,
    Concurrency,
    DeadlineSpec,
    ExpositionSpec,
    IndexSpec,
    OperationSpec,
    OperationType,
    PropertyType,
    PulseScope,
    PulseSpec,
    QueryRule,
    ReceiverSpec,
    ScheduleSpec,
    Scope,
)
from toa.manifests.cadence import override
from toa.manifests.checking import check
from toa.manifests.schemas import compile_schema

SOUND = {case.name[:2]: case for case in cases("sound")}


@pytest.fixture
def spec_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The spec of the component in `store/things` of a sound case, by the case's number."""

    def load(number: str, locator: str = "store.things") -> ComponentSpec:
        monkeypatch.chdir(SOUND[number].unpack(tmp_path))
        specs = {one.spec.locator: one.spec for one in check([Path(".")]).manifests if one.spec is not None}
        return specs[locator]

    return load


def test_a_component_is_called_by_its_package(spec_of: Any) -> None:
    spec = spec_of("01")
    assert (spec.namespace, spec.name, spec.locator, spec.label) == ("store", "things", "store.things", "store_things")
    assert spec.package == "store.things"
    assert spec.path == "store/things/manifest.toa.yaml"
    assert spec.entity is None
    assert list(spec.operations) == ["greet"]
    assert spec.operations["greet"].module == "store.things.operations.greet"
    assert spec_of("20", "loyalty").namespace == ""
    assert spec_of("19", "Europe.Stock_2").package == "store.things"


def test_the_order_of_the_shop(spec_of: Any) -> None:
    spec = spec_of("02")
    entity = spec.entity
    assert list(entity.properties) == (
        ["reference", "customer", "product", "quantity", "total", "status", "pay_by", "alarm", "reason"]
    )
    assert entity.id.type is PropertyType.UUID
    assert "id" not in entity.properties
    assert {name: one.field for name, one in entity.system.items()} == {
        "CREATED": "created_at",
        "UPDATED": "updated_at",
        "DELETED": "deleted_at",
        "VERSION": "version",
    }
    assert entity.blank == {"status": "pending"}
    assert entity.unique == {"reference": ("reference",)}
    assert entity.index == {"pending": IndexSpec(name="pending", on=("pay_by",), where="status==pending")}
    assert entity.history is False
    reference, total, status = (entity.properties[name] for name in ("reference", "total", "status"))
    assert (reference.max_length, reference.nullable) == (64, False)
    assert (total.type, total.digits, total.places) == (PropertyType.DECIMAL, 20, 2)
    assert status.enum == ("pending", "approved", "packed", "cancelled")
    assert entity.properties["pay_by"].nullable
    assert spec.operations["create"].once_ms == 3_600_000
    assert spec.operations["cancel"].errors == {"NOT_PENDING"}
    assert spec.pulses == (PulseSpec(operation="expire", cycle_ms=300_000),)
    assert compile_schema(spec.configuration).check({}) == {"limit": 10000, "window": "1h", "expiry": "sweep"}
    assert spec.exposition["create"] == ExpositionSpec(operation="create", audience="owner", owner="customer")
    assert list(spec.events) == ["created", "updated", "deleted", "cancelled"]
    assert spec.events["cancelled"].module == "store.things.events.cancelled"


def test_a_row_must_satisfy_every_property(spec_of: Any) -> None:
    checker = compile_schema(spec_of("02").entity.schema)
    row = {"reference": "A", "customer": "C", "product": "P", "quantity": 1, "total": "1.00", "status": "pending"}
    everything = {**row, "pay_by": None, "alarm": None, "reason": None}
    assert checker.check(everything) == {**everything, "total": Decimal("1.00")}
    assert checker.check(row)["total"] == Decimal("1.00")
    for wrong in ({**row, "status": "lost"}, {**row, "quantity": None}, {**row, "extra": 1}, {**row, "pay_by": "soon"}):
        assert not checker.is_valid(checker.normalise(wrong))


def test_every_type_and_format_of_a_property(spec_of: Any) -> None:
    properties = spec_of("03").entity.properties
    assert {name: one.type.value for name, one in properties.items()} == {
        "text": "string",
        "short": "string",
        "choice": "string",
        "whole": "integer",
        "fixed": "string",
        "level": "integer",
        "ratio": "number",
        "amount": "decimal",
        "weight": "decimal",
        "flag": "boolean",
        "data": "object",
        "lines": "array",
        "moment": "moment",
        "token": "uuid",
        "day": "date",
        "stamp": "date-time",
        "mail": "email",
        "pause": "string",
        "owner": "ref",
        "parent": "ref",
    }
    assert (properties["weight"].digits, properties["weight"].places) == (9, 3)
    assert properties["choice"].enum == ("no", "yes", "on", "off")
    assert properties["level"].enum is None
    owner, parent = properties["owner"], properties["parent"]
    assert (owner.ref, owner.field, owner.attname) == ("auth.User", "owner", "owner_id")
    assert parent.description == "what it is a part of"
    assert [name for name, one in properties.items() if not one.nullable] == ["text", "whole", "amount", "moment"]


@pytest.mark.parametrize(("number", "kind"), [("04", PropertyType.STRING), ("05", PropertyType.INTEGER)])
def test_a_component_may_declare_its_own_id(spec_of: Any, number: str, kind: PropertyType) -> None:
    entity = spec_of(number).entity
    assert entity.id.type is kind
    assert entity.properties["id"] is entity.id
    assert not entity.id.nullable
    # The id is no part of what an operation writes.
    assert "id" not in entity.schema["properties"]


def test_blanks_are_as_drafts_hold_them(spec_of: Any) -> None:
    entity = spec_of("06").entity
    assert entity.associated
    assert entity.blank == {"points": 0, "tier": "basic", "spent": Decimal("0.00"), "seen": {"count": 0}}


def test_the_forms_of_operations(spec_of: Any) -> None:
    operations = spec_of("07").operations
    forms = {name: (one.type.value, one.scope.value, one.query.value) for name, one in operations.items()}
    assert forms == {
        "observe": ("observation", "entry", "required"),
        "enumerate": ("observation", "entries", "optional"),
        "assign": ("assignment", "changeset", "required"),
        "terminate": ("transition", "entry", "required"),
        "ensure": ("transition", "entry", "required"),
        "create": ("transition", "entry", "absent"),
        "close": ("transition", "entry", "required"),
        "touch": ("transition", "entry", "optional"),
        "close_all": ("transition", "entries", "required"),
        "look": ("observation", "entry", "required"),
        "list": ("observation", "entries", "optional"),
        "set_status": ("assignment", "changeset", "required"),
        "price": ("computation", "none", "absent"),
        "notify": ("effect", "none", "absent"),
        "follow": ("workflow", "none", "absent"),
    }
    assert {name: one.concurrency for name, one in operations.items() if one.concurrency} == {
        "terminate": Concurrency.RETRY,
        "ensure": Concurrency.RETRY,
        "close": Concurrency.NONE,
        "touch": Concurrency.RETRY,
        "close_all": Concurrency.RETRY,
    }
    notify = operations["notify"]
    assert (notify.timeout_ms, notify.attempts, notify.lease_ms) == (5_000, 5, 60_000)
    assert notify.retry == ("smtplib.SMTPException", "TimeoutError")
    assert (operations["price"].timeout_ms, operations["price"].attempts) == (30_000, 3)


def test_inherited_operations_and_their_refinement(spec_of: Any) -> None:
    plain = spec_of("17").operations
    assert plain["assign"] == OperationSpec(
        name="assign",
        type=OperationType.ASSIGNMENT,
        scope=Scope.CHANGESET,
        query=QueryRule.REQUIRED,
        inherited=True,
    )
    refined = spec_of("08").operations
    assert refined["enumerate"].query is QueryRule.REQUIRED
    assert refined["assign"].input == {"type": "object", "properties": {"note": {"type": "string"}}}
    assert refined["assign"].module is None
    assert refined["terminate"].module == "store.things.operations.terminate"
    assert refined["terminate"].concurrency is Concurrency.NONE
    assert refined["ensure"].concurrency is Concurrency.RETRY
    assert all(refined[name].inherited for name in ("observe", "enumerate", "assign", "terminate", "ensure"))


def test_files_without_a_declaration_and_private_ones(spec_of: Any) -> None:
    own = {name: one.module for name, one in spec_of("09").operations.items() if not one.inherited}
    assert own == {name: f"store.things.operations.{name}" for name in ("all_of_them", "count", "glance", "rename")}


def test_a_stateless_component_inherits_nothing(spec_of: Any) -> None:
    spec = spec_of("22")
    assert list(spec.operations) == ["ping"]
    assert spec.events == {}


def test_receivers_in_the_order_of_the_manifest(spec_of: Any) -> None:
    assert spec_of("11").receivers == (
        ReceiverSpec(
            event="store.orders.created",
            operation="reserve",
            position=0,
            module="store.things.receivers",
            condition="is_ours",
            request="reservation",
        ),
        ReceiverSpec(event="store.orders.updated", operation="tell", position=1, module="store.things.receivers"),
        ReceiverSpec(
            event="store.things.created",
            operation="tell",
            position=2,
            module="store.things.receivers",
            delay_ms=300_000,
        ),
        ReceiverSpec(
            event="loyalty.updated",
            operation="release",
            position=3,
            module="store.things.receivers",
            request="reservation",
        ),
    )


def test_pulses_are_in_milliseconds(spec_of: Any) -> None:
    assert spec_of("12").pulses == (
        PulseSpec(operation="tidy", cycle_ms=300_000),
        PulseSpec(operation="sync", cycle_ms=900_000),
        PulseSpec(operation="warm", cycle_ms=10_000, scope=PulseScope.REPLICA),
        PulseSpec(operation="report", cycle_ms=86_400_000, intervals=24),
        PulseSpec(operation="watch", name="often", cycle_ms=1_500),
        PulseSpec(operation="watch", name="seldom", cycle_ms=86_400_000),
    )


def test_declared_sweeps_keep_their_query_and_input(spec_of: Any) -> None:
    spec = spec_of("13")
    cancel, reset = spec.pulses
    assert cancel.query == {"criteria": "status==pending;pay_by<$now", "limit": 100}
    assert cancel.input == {"reason": "EXPIRED"}
    assert (reset.query, reset.input) == ({"id": "first"}, {})
    (demote,) = spec.schedules
    assert demote.query == {"criteria": "rank>10", "limit": 1000, "sort": "-rank"}
    assert demote.input is None


def test_schedules_with_every_key(spec_of: Any) -> None:
    weekly, daily, first, last, often = spec_of("14").schedules
    assert weekly == ScheduleSpec(
        operation="weekly", expression="0 9 * * mon", zone="Europe/Berlin", overdue_ms=3_600_000, jitter_ms=30_000
    )
    assert daily == ScheduleSpec(
        operation="daily",
        expression="30 2 * * *",
        zone="America/New_York",
        catch_up="each",
        each_max=10,
        each_window_ms=604_800_000,
        overlap="buffer",
        gap="shift",
        fold="both",
    )
    assert (first.name, first.catch_up, first.zone) == ("first", "none", "UTC")
    assert (last.name, last.catch_up, last.each_max, last.each_window_ms) == ("last", "each", 100, 86_400_000)
    assert (often.name, often.expression) == ("", "*/10 * * * * *")


def test_a_pulse_and_a_schedule_of_one_operation(spec_of: Any) -> None:
    spec = spec_of("15")
    assert [(one.operation, one.name) for one in (*spec.pulses, *spec.schedules)] == [
        ("check", "steady"),
        ("check", "nightly"),
    ]


def test_deadlines_make_a_component_timed(spec_of: Any) -> None:
    spec = spec_of("16")
    assert spec.deadlines == {
        "payment_deadline": DeadlineSpec(property="payment_deadline", transition="lapse"),
        "review": DeadlineSpec(property="review", transition="look_again"),
        "timeout": DeadlineSpec(property="timeout", transition="close", lifetime_ms=604_800_000),
        "reminder": DeadlineSpec(property="reminder", transition="at_reminder"),
    }
    assert all(one.deadline and one.nullable for one in spec.entity.properties.values())
    assert {name: one.field for name, one in spec.entity.system.items()} == {
        "CREATED": "created_at",
        "UPDATED": "updated_at",
        "DELETED": "deleted_at",
        "VERSION": "version",
        "TIMEOUT": "timeout_at",
        "STATE": "clock_state",
        "HELD": "held_at",
        "CLOCK": "clock",
    }
    assert spec.entity.history
    assert spec_of("17").entity.history
    assert not spec_of("17", "store.others").entity.history


def test_columns_of_a_bound_model(spec_of: Any) -> None:
    entity = spec_of("18").entity
    assert entity.model == "shop.Order"
    fields = {name: (one.field, one.attname) for name, one in entity.selectable().items()}
    assert fields == {
        "id": ("number", "number"),
        "customer": ("client", "client_id"),
        "total": ("sum", "sum"),
        "CREATED": ("made_at", "made_at"),
        "UPDATED": ("modified", "modified"),
        "DELETED": ("removed_at", "removed_at"),
        "VERSION": ("revision", "revision"),
    }


def test_configuration_takes_no_other_keys_unless_it_says_so(spec_of: Any) -> None:
    closed = compile_schema(spec_of("21").configuration)
    assert closed.check({"url": "https://x"}) == {
        "url": "https://x",
        "limit": Decimal("10000.00"),
        "window": "1h",
        "zones": ["UTC", "Europe/Berlin"],
        "retry": {"times": 3},
        "mode": "sweep",
        "on": True,
    }
    assert not closed.is_valid({"url": "https://x", "limits": 1})
    assert compile_schema(spec_of("22").configuration).is_valid({"anything": 1})


def test_an_environment_overrides_a_cadence_by_the_same_rules(spec_of: Any) -> None:
    spec = spec_of("12")
    origin = 'TOA["CADENCE"]["store.things.tidy"]'
    cadence, problems = override(spec, "tidy", 2, origin)
    assert problems == ()
    assert cadence.pulses == (PulseSpec(operation="tidy", cycle_ms=2_000),)
    cadence, problems = override(spec, "watch", "0 9 * * mon", origin)
    assert cadence.schedules == (ScheduleSpec(operation="watch", expression="0 9 * * mon"),)
    assert override(spec, "tidy", None, origin)[0].pulses == ()
    cadence, problems = override(spec, "tidy", {"cycl": 5}, origin)
    assert cadence.pulses == ()
    assert str(problems[0]).startswith(f"{origin}:1:1: tidy.cycl: no key is called 'cycl' here")
    assert override(spec, "tdy", 5, origin)[1][0].hint == "did you mean 'tidy'?"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (timedelta(minutes=5), "tidy: must be seconds, a cron expression, or a mapping, not a timedelta"),
        (Decimal(300), "tidy: must be seconds, a cron expression, or a mapping, not a Decimal"),
        (b"300", "tidy: must be seconds, a cron expression, or a mapping, not a bytes"),
        ({"cycle": timedelta(minutes=5)}, "tidy.cycle: must be a duration, not a timedelta"),
        ({5: 300}, "tidy[5]: no key is called '5' here"),
    ],
)
def test_settings_hold_more_kinds_of_values_than_a_manifest_can_and_each_is_told(
    spec_of: Any, value: Any, told: str
) -> None:
    cadence, problems = override(spec_of("12"), "tidy", value, "here")
    assert (cadence.pulses, cadence.schedules) == ((), ())
    assert str(problems[0]).startswith(f"here:1:1: {told}")
