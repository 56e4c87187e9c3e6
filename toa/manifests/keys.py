"""Every key that a manifest may have, in one place: the reader, the editors' schema and the reference follow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Kind(StrEnum):
    """What a key holds; the value is how a refusal puts it."""

    TEXT = "text"
    FLAG = "true or false"
    INTEGER = "an integer"
    NAMES = "a list of names"
    MAPPING = "a mapping"
    SCHEMA = "a JSON Schema or the name of a type"
    DURATION = "a duration"
    ANY = "anything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key: its kind, what it is about, and what lies below it."""

    kind: Kind
    about: str
    holds: Table | None = None
    """Of a mapping: the keys it may have."""
    each: Key | None = None
    """Of a mapping with names of the author's choice: what each of them holds."""
    values: tuple[str, ...] = ()
    """Of a text: all that it may be."""
    null: bool = False
    """Whether null may stand here and means the same as nothing."""
    short: tuple[Kind, ...] = ()
    """Other kinds that may stand in its place as a short form."""
    least: int | None = None
    most: int | None = None


Table: TypeAlias = Mapping[str, "Key"]


def _text(about: str, *values: str) -> Key:
    return Key(kind=Kind.TEXT, about=about, values=values)


def _flag(about: str) -> Key:
    return Key(kind=Kind.FLAG, about=about)


def _integer(about: str, least: int, most: int) -> Key:
    return Key(kind=Kind.INTEGER, about=about, least=least, most=most)


def _names(about: str) -> Key:
    return Key(kind=Kind.NAMES, about=about)


def _schema(about: str) -> Key:
    return Key(kind=Kind.SCHEMA, about=about)


def _duration(about: str) -> Key:
    return Key(kind=Kind.DURATION, about=about)


def _any(about: str) -> Key:
    return Key(kind=Kind.ANY, about=about)


def _mapping(about: str, holds: Table | None = None) -> Key:
    return Key(kind=Kind.MAPPING, about=about, holds=holds)


def _each(about: str, each: Key) -> Key:
    return Key(kind=Kind.MAPPING, about=about, each=each)


INDEX: Table = {
    "on": _names("properties, in the order of the index; a leading - means descending"),
    "where": _text("criteria; the index holds only the rows that fit them"),
}

ENTITY: Table = {
    "properties": _each("name -> JSON Schema, or the name of a type", _schema("the property's JSON Schema")),
    "required": _names("properties that are never null"),
    "blank": _mapping("the values that a record has before anything was written"),
    "associated": _flag("the object exists by virtue of an id owned elsewhere; reading a missing id gives the blank"),
    "unique": _each("name -> properties that are unique together; tombstones are ignored", _names("the properties")),
    "index": _each(
        "name -> the properties it is on, or `{on, where}`",
        Key(kind=Kind.MAPPING, about="an index", holds=INDEX, short=(Kind.NAMES,)),
    ),
    "history": _flag("keep a revision for every commit; the default where there are deadlines"),
    "model": _text("`app_label.Model` of an existing model that the component is bound to"),
    "columns": _each(
        "system property or property -> the field of the bound model that holds it", _text("the name of a field")
    ),
}

OPERATION: Table = {
    "description": _text("shown in the admin and in OpenAPI"),
    "type": _text(
        "the type of the operation; the name of the function in its file",
        "transition",
        "observation",
        "assignment",
        "computation",
        "effect",
        "workflow",
    ),
    "query": _flag("true: a query is required; false: none is taken; left out: optional"),
    "concurrency": _text("of a transition that takes a query: what a lost race means", "retry", "none"),
    "once": Key(
        kind=Kind.FLAG,
        short=(Kind.INTEGER,),
        about="remember once keys: true for 3600 s, or the number of seconds",
        least=600,
        most=31_536_000,
    ),
    "input": _schema("what it takes; without one only null is accepted"),
    "output": _schema("what it answers"),
    "errors": _names("codes of the Errors that it may reply"),
    "timeout": _duration("of an effect: how long one attempt may take; 30 s unless given"),
    "attempts": _integer("of an effect: how many attempts in all; 3 unless given", 1, 100),
    "retry": _names("of an effect: dotted names of exceptions that are worth another attempt"),
    "lease": _duration(
        "of an effect: after how long without a sign of life another worker takes over; 30 s unless given"
    ),
}

EVENT: Table = {
    "description": _text("shown in the admin and in OpenAPI"),
    "payload": _schema("what its receivers get; unless given, the new state"),
}

RECEIVER: Table = {
    "operation": _text("the operation of this component that is called"),
    "condition": _text("a function in receivers.py: `(state, origin) -> bool`"),
    "request": _text("a function in receivers.py: `(state, origin) -> {query, input}`"),
    "delay": _duration("how long after the event the call is due"),
}

SWEEP: Table = {
    "id": _any("the one object to call the operation on"),
    "criteria": _text("which objects to call the operation on; `$now` stands for the moment"),
    "limit": _integer("how many objects at most in one call", 1, 1000),
    "sort": Key(kind=Kind.NAMES, short=(Kind.TEXT,), about="which objects come first; a leading - means descending"),
}

PULSE: Table = {
    "name": _text("distinguishes several pulses and schedules of one operation"),
    "cycle": _duration("how long a cycle takes; a bare number is seconds"),
    "intervals": _integer("how many boundaries a cycle has", 1, 1_000_000),
    "scope": _text("one call for each boundary, or one in each worker process", "group", "replica"),
    "query": _mapping("declares a sweep: the operation is called on what this finds", SWEEP),
    "input": _any("of a declared sweep: the input of each call"),
}

EACH: Table = {
    "max": _integer("how many missed occurrences are made up at most; the latest", 1, 10_000),
    "window": _duration("how far back missed occurrences are made up; a bare number is seconds"),
}

CATCH_UP: Table = {"each": _mapping("make up each missed occurrence, oldest first", EACH)}

SCHEDULE: Table = {
    "name": _text("distinguishes several pulses and schedules of one operation"),
    "schedule": _text("a cron expression of 5 fields, or 6 with leading seconds"),
    "zone": _text("an IANA time zone; UTC unless given"),
    "overdue": _duration("how late a call may be made; later ones are dropped and recorded; a bare number is seconds"),
    "catch_up": Key(
        kind=Kind.TEXT,
        about="after an outage: one call for all that was missed, none, or each",
        values=("once", "none", "each"),
        short=(Kind.MAPPING,),
        holds=CATCH_UP,
    ),
    "overlap": _text("while the previous call runs", "skip", "buffer", "allow"),
    "gap": _text("a local time that the clocks skip", "end", "shift", "skip"),
    "fold": _text("a local time that the clocks show twice", "first", "both"),
    "jitter": _duration("spread calls by up to this; a bare number is seconds"),
    "query": _mapping("declares a sweep: the operation is called on what this finds", SWEEP),
    "input": _any("of a declared sweep: the input of each call"),
}

DEADLINE: Table = {
    "transition": _text("the transition that is due at the moment"),
    "lifetime": _duration("of `timeout`: how long after its first write a process ends"),
}

EXPOSITION: Table = {
    "owner": _text("the property that holds the id of the caller, who reaches only objects of their own"),
    "audience": _text("who may call it over HTTP", "anonymous", "authenticated", "permission"),
}

RECEIVER_FORM = Key(kind=Kind.MAPPING, about="a receiver", holds=RECEIVER, short=(Kind.TEXT,))
DEADLINE_FORM = Key(kind=Kind.MAPPING, about="a deadline", holds=DEADLINE, short=(Kind.TEXT,), null=True)
EXPOSITION_FORM = Key(
    kind=Kind.MAPPING,
    about="an audience",
    holds=EXPOSITION,
    short=(Kind.TEXT,),
    values=EXPOSITION["audience"].values,
    null=True,
)

MANIFEST: Table = {
    "namespace": _text("unless given, the last but one part of the package"),
    "name": _text("unless given, the last part of the package"),
    "description": _text("shown in the admin and in OpenAPI"),
    "entity": _mapping("the component's rows; without it the component is stateless", ENTITY),
    "operations": _each(
        "name -> declaration", Key(kind=Kind.MAPPING, about="an operation", holds=OPERATION, null=True)
    ),
    "events": _each("name -> declaration", Key(kind=Kind.MAPPING, about="an event", holds=EVENT, null=True)),
    "receivers": _each(
        "`namespace.component.event` -> operation, or more",
        RECEIVER_FORM,
    ),
    "cadence": _each("operation -> pulse or schedule, or a list of them", _any("pulses and schedules")),
    "deadlines": _each(
        "property -> transition",
        DEADLINE_FORM,
    ),
    "configuration": _schema("JSON Schema of the component's configuration, with defaults"),
    "exposition": _each(
        "operation -> who may call it over HTTP",
        EXPOSITION_FORM,
    ),
}
