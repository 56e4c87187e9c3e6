"""Keeping a revision of every commit, for components with `history`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connections

from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.deadlines import Reached
from toa.core.identity import digest, uuid7
from toa.runtime import settings
from toa.runtime.events import Change
from toa.runtime.table import State, jsonb

# The state before this commit is compared with what the last revision left: one statement finds out and writes.
_INSERT = """
INSERT INTO toa_revision
       (id, component, entity, version, endpoint, changes, outside, digest, reached, moment, cause, at)
SELECT n.id, n.component, n.entity, n.version, n.endpoint, n.changes,
       coalesce((SELECT r.digest <> n.before FROM toa_revision r
                  WHERE r.component = n.component AND r.entity = n.entity ORDER BY r.version DESC LIMIT 1), false),
       n.digest, n.reached, n.moment,
       n.cause || CASE WHEN n.reached = '' THEN '{{}}' ELSE coalesce(
           (SELECT jsonb_build_object('set_by', jsonb_build_object('version', s.version, 'endpoint', s.endpoint))
              FROM toa_revision s
             WHERE s.component = n.component AND s.entity = n.entity AND s.changes ? n.reached
             ORDER BY s.version DESC LIMIT 1), '{{}}') END,
       n.at
  FROM (VALUES {places}) AS n
       (id, component, entity, version, endpoint, changes, before, digest, reached, moment, cause, at)
"""
_PLACES = "(%s::uuid, %s, %s, %s::bigint, %s, %s::jsonb, %s, %s, %s, %s::timestamptz, %s::jsonb, %s::timestamptz)"


def revise(made: Sequence[tuple[Change, Call]], reached: Reached | None = None) -> None:
    """Write the revisions of these changes, each made by its call, in the open transaction, by one statement."""
    kept = [(change, call) for change, call in made if change.component.table.entity.history]
    if not kept:
        return
    parameters = [value for change, call in kept for value in _row(change, call, reached)]
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_INSERT.format(places=", ".join([_PLACES] * len(kept))), parameters)


def state_digest(change: Change, state: State | None) -> str:
    """A digest of the declared properties of a state; empty where there is none."""
    if state is None:
        return ""
    return digest({name: state[name] for name in change.component.table.writable})


def _row(change: Change, call: Call, reached: Reached | None) -> tuple[Any, ...]:
    before = change.origin or {}
    names = change.component.table.writable
    different = {
        name: [before.get(name), change.state[name]] for name in sorted(names) if before.get(name) != change.state[name]
    }
    if change.state["DELETED"] is not None:
        different["DELETED"] = [None, change.state["DELETED"]]
    return (
        uuid7(),
        change.component.locator,
        str(change.state["id"]),
        change.state["VERSION"],
        call.endpoint,
        jsonb(different),
        state_digest(change, change.origin),
        state_digest(change, change.state),
        reached.property if reached else "",
        to_datetime(reached.moment) if reached else None,
        jsonb({"key": call.key, **({"caller": call.caller} if call.caller else {}), **(call.cause or {})}),
        to_datetime(change.state["UPDATED"]),
    )
