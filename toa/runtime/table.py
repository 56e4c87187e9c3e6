"""Rows of an entity as plain values: reading, locking and writing them in SQL.

Operations work on drafts, so no model instance is made on the way: a row is a tuple from psycopg, turned into a
dictionary of draft values by one converter for each column.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any

from django.db import connections
from psycopg.types.json import Jsonb

from toa.core.clock import read_datetime, to_datetime, to_moment
from toa.core.identity import dumps, uuid7
from toa.core.specs import EntitySpec, PropertySpec, PropertyType
from toa.exceptions import InvalidQuery
from toa.models import Entity
from toa.runtime import settings
from toa.runtime.sending import run
from toa.runtime.sql import HEX, MOMENT, array, document, moment_text

State = dict[str, Any]
"""The values of an entity by property name, as drafts hold them."""

Convert = Callable[[Any], Any]


class Lock(Enum):
    """What to do about a row that somebody else holds."""

    WAIT = "FOR NO KEY UPDATE"
    SKIP = "FOR NO KEY UPDATE SKIP LOCKED"
    REFUSE = "FOR NO KEY UPDATE NOWAIT"
    NONE = ""


def jsonb(value: Any) -> Jsonb:
    """A parameter of type jsonb; decimals become text, NaN is refused."""
    return Jsonb(value, dumps=dumps)


def from_json(value: Any) -> Any:
    # Django asks psycopg for the text of a jsonb column on raw cursors, and decodes it itself in querysets.
    return json.loads(value) if isinstance(value, str) else value


def _hex(value: Any) -> Any:
    return value.hex if isinstance(value, uuid.UUID) else value


_READ: Mapping[PropertyType, Convert] = {
    PropertyType.MOMENT: to_moment,
    PropertyType.UUID: _hex,
    PropertyType.OBJECT: from_json,
    PropertyType.ARRAY: from_json,
    PropertyType.DATE: date.isoformat,
    PropertyType.DATETIME: datetime.isoformat,
    PropertyType.REF: _hex,
}
_IN_SQL: Mapping[PropertyType, str] = {PropertyType.MOMENT: MOMENT, PropertyType.UUID: HEX}
"""What `fetch` has the database convert."""
_WRITE: Mapping[PropertyType, Convert] = {
    PropertyType.MOMENT: to_datetime,
    PropertyType.UUID: uuid.UUID,
    PropertyType.OBJECT: jsonb,
    PropertyType.ARRAY: jsonb,
    PropertyType.DATE: date.fromisoformat,
    PropertyType.DATETIME: read_datetime,
}


class Table:
    """SQL for the rows of one entity."""

    def __init__(self, entity: EntitySpec, model: type[Entity]) -> None:
        self.entity = entity
        self.model = model
        self.properties: dict[str, PropertySpec] = entity.selectable()
        self.writable = frozenset(name for name in entity.properties if name != "id")
        self.columns = {name: _column(model, spec) for name, spec in self.properties.items()}
        self._names = tuple(self.properties)
        self._read = tuple(_READ.get(spec.type) for spec in self.properties.values())
        self._read_raw = tuple(
            None if spec.type in _IN_SQL else _READ.get(spec.type) for spec in self.properties.values()
        )
        self._write = {name: _WRITE.get(spec.type) for name, spec in self.properties.items()}
        quote = connections[settings.alias()].ops.quote_name
        self._quoted = {name: quote(column) for name, column in self.columns.items()}
        self._name = quote(model._meta.db_table)

    @property
    def attnames(self) -> list[str]:
        """Model attributes in the order that `state` reads them; for `values_list`."""
        return [spec.attname for spec in self.properties.values()]

    @cached_property
    def _select(self) -> str:
        columns = (
            _IN_SQL.get(spec.type, "{column}").format(column=self._quoted[name])
            for name, spec in self.properties.items()
        )
        return f"SELECT {', '.join(columns)} FROM {self._name}"

    def state(self, row: Sequence[Any]) -> State:
        """Draft values of a row that a queryset gave, which holds all columns in order."""
        return self._state(row, self._read)

    def _state(self, row: Sequence[Any], converters: Sequence[Convert | None]) -> State:
        return {
            name: value if value is None or convert is None else convert(value)
            for name, convert, value in zip(self._names, converters, row, strict=True)
        }

    def revived(self, stored: Mapping[str, Any] | None) -> State | None:
        """Draft values from a state that was kept as JSON, where a decimal is text."""
        if stored is None:
            return None
        decimals = {name for name, spec in self.properties.items() if spec.type is PropertyType.DECIMAL}
        return {
            name: Decimal(value) if name in decimals and value is not None else value for name, value in stored.items()
        }

    def blank(self, identity: Any) -> State:
        """The values of an object before anything was written: as long ago as can be, at version 0."""
        state: State = dict.fromkeys(self._names)
        state.update(self.entity.blank)
        state.update(id=identity, CREATED=0, UPDATED=0, VERSION=0)
        return state

    def new_id(self) -> str:
        """A new id; raises InvalidQuery where the manifest gives ids a schema of its own."""
        if self.entity.id.type is not PropertyType.UUID:
            raise InvalidQuery("ids of this component come from outside: name one in the query", hint='{"id": …}')
        return uuid7().hex

    def identity(self, value: Any) -> Any:
        """The draft form of an id as it is stored, or as text after the colon of `component:id`."""
        return int(value) if self.entity.id.type is PropertyType.INTEGER else _hex(value)

    def fetch(self, identities: Sequence[Any], lock: Lock = Lock.NONE) -> dict[Any, State]:
        """The rows of these ids by id, tombstones included, locked in id order where a lock is asked for."""
        condition, parameters = self._among(identities)
        order = "" if len(identities) == 1 else f"ORDER BY {self._quoted['id']}"
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"{self._select} WHERE {condition} {order} {lock.value}", parameters)
            states = [self._state(row, self._read_raw) for row in cursor.fetchall()]
        return {state["id"]: state for state in states}

    def existing(self, identities: Sequence[Any]) -> set[Any]:
        """Which of these ids have a row, held by somebody or not, tombstones included."""
        condition, parameters = self._among(identities)
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SELECT {self._quoted['id']} FROM {self._name} WHERE {condition}", parameters)
            return {_hex(row[0]) for row in cursor.fetchall()}

    def _among(self, identities: Sequence[Any]) -> tuple[str, list[Any]]:
        """The condition that a row has one of these ids, as SQL with parameters."""
        key, write = self._quoted["id"], self._write["id"]
        if len(identities) == 1:
            return f"{key} = %s", [self._stored("id", identities[0])]
        if write is uuid.UUID:
            # Hex digits as they are: an object for each would only be made to be written as text.
            return f"{key} = ANY(%s::uuid[])", [array(identities)]
        return f"{key} = ANY(%s)", [[write(identity) if write else identity for identity in identities]]

    def insert(self, state: State) -> bool:
        """Insert a row; false where a row of that id was there first."""
        columns = ", ".join(self._quoted[name] for name in state)
        places = ", ".join(["%s"] * len(state))
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {self._name} ({columns}) VALUES ({places}) ON CONFLICT ({self._quoted['id']}) DO NOTHING",
                [self._stored(name, value) for name, value in state.items()],
            )
            return bool(cursor.rowcount)

    def insert_many(self, states: Sequence[State]) -> bool:
        """Insert rows by one statement; false where one of these ids was there first, and then some are missing."""
        names = list(states[0])
        columns = ", ".join(self._quoted[name] for name in names)
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {self._name} ({columns}) SELECT {columns} FROM {self._recordset(names)}"
                f" ON CONFLICT ({self._quoted['id']}) DO NOTHING",
                [self._document(names, states)],
            )
            return bool(cursor.rowcount == len(states))

    def update_many(self, names: Sequence[str], states: Sequence[State]) -> None:
        """Write the same columns of many rows, each once, that the caller has locked, by one statement."""
        written = ("id", *names)
        assignments = ", ".join(f"{self._quoted[name]} = n.{self._quoted[name]}" for name in names)
        # The limit tells the planner how many rows there are: without it, it reads the whole table for a hundred.
        rows = f"(SELECT * FROM {self._recordset(written)} LIMIT {len(states)}) AS n"
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"UPDATE {self._name} AS t SET {assignments} FROM {rows}"
                f" WHERE t.{self._quoted['id']} = n.{self._quoted['id']}",
                [self._document(written, states)],
            )

    def _recordset(self, names: Sequence[str]) -> str:
        """Rows `n` of these columns out of one parameter, as SQL."""
        record = ", ".join(f"{self._quoted[name]} {self._types[name]}" for name in names)
        return f"jsonb_to_recordset(%s::jsonb) AS n({record})"

    def _document(self, names: Sequence[str], states: Sequence[State]) -> str:
        places = [(name, self.columns[name], self.properties[name].type is PropertyType.MOMENT) for name in names]
        return document(
            [
                {
                    column: moment_text(state[name]) if moment and state[name] is not None else state[name]
                    for name, column, moment in places
                }
                for state in states
            ]
        )

    @cached_property
    def _types(self) -> dict[str, str]:
        connection = connections[settings.alias()]
        return {
            name: str(self.model._meta.get_field(spec.field).db_type(connection))
            for name, spec in self.properties.items()
        }

    def update(self, identity: Any, changed: State) -> None:
        """Write the changed columns of a row that the caller has locked."""
        assignments = ", ".join(f"{self._quoted[name]} = %s" for name in changed)
        run(
            f"UPDATE {self._name} SET {assignments} WHERE {self._quoted['id']} = %s",
            [*(self._stored(name, value) for name, value in changed.items()), self._stored("id", identity)],
        )

    def _stored(self, name: str, value: Any) -> Any:
        convert = self._write[name]
        return value if value is None or convert is None else convert(value)


def _column(model: type[Entity], spec: PropertySpec) -> str:
    return str(model._meta.get_field(spec.field).column)  # type: ignore[union-attr]
