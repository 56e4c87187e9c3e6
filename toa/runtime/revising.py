"""Keeping a revision of every commit, for components with `history`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.deadlines import Reached
from toa.core.identity import digest, uuid7
from toa.runtime.events import Change
from toa.runtime.sending import run
from toa.runtime.sql import document
from toa.runtime.table import State

# The state before this commit is compared with what the last revision left: one statement finds out and writes. The
# rows travel as one JSON document. Of several changes of one object the first alone can follow one from outside.
_INSERT = """
INSERT INTO toa_revision
       (id, component, entity, version, endpoint, changes, outside, digest, reached, moment, cause, at)
SELECT n.id, n.component, n.entity, n.version, n.endpoint, n.changes,
       n.first AND coalesce((SELECT r.digest <> n.before FROM toa_revision r
                  WHERE r.component = n.component AND r.entity = n.entity ORDER BY r.version DESC LIMIT 1), false),
       n.digest, n.reached, n.moment,
       n.cause || CASE WHEN n.reached = '' THEN '{}' ELSE coalesce(
           (SELECT jsonb_build_object('set_by', jsonb_build_object('version', s.version, 'endpoint', s.endpoint))
              FROM toa_revision s
             WHERE s.component = n.component AND s.entity = n.entity AND s.changes ? n.reached
             ORDER BY s.version DESC LIMIT 1), '{}') END,
       n.at
  FROM jsonb_to_recordset(%s::jsonb) AS n
       (id uuid, component text, entity text, version bigint, endpoint text, changes jsonb, before text, digest text,
        reached text, moment timestamptz, cause jsonb, at timestamptz, first boolean)
"""


def revise(made: Sequence[tuple[Change, Call]], reached: Sequence[Reached | None]) -> None:
    """Write the revisions of these changes, each made by its call, in the open transaction, by one statement.

    Beside each change stands the deadline that it was made for, or null.
    """
    kept = [
        (change, call, deadline)
        for (change, call), deadline in zip(made, reached, strict=True)
        if change.component.table.entity.history
    ]
    if not kept:
        return
    seen: set[tuple[str, Any]] = set()
    rows = []
    for change, call, deadline in kept:
        place = (change.component.locator, change.state["id"])
        rows.append({**_row(change, call, deadline), "first": place not in seen})
        seen.add(place)
    run(_INSERT, [document(rows)])


def state_digest(change: Change, state: State | None) -> str:
    """A digest of the declared properties of a state; empty where there is none."""
    if state is None:
        return ""
    return digest({name: state[name] for name in change.component.table.writable})


def _row(change: Change, call: Call, reached: Reached | None) -> dict[str, Any]:
    before = change.origin or {}
    names = change.component.table.writable
    different = {
        name: [before.get(name), change.state[name]] for name in sorted(names) if before.get(name) != change.state[name]
    }
    if change.state["DELETED"] is not None:
        different["DELETED"] = [None, change.state["DELETED"]]
    return {
        "id": uuid7(),
        "component": change.component.locator,
        "entity": str(change.state["id"]),
        "version": change.state["VERSION"],
        "endpoint": call.endpoint,
        "changes": different,
        "before": state_digest(change, change.origin),
        "digest": state_digest(change, change.state),
        "reached": reached.property if reached else "",
        "moment": to_datetime(reached.moment) if reached else None,
        "cause": {"key": call.key, **({"caller": call.caller} if call.caller else {}), **(call.cause or {})},
        "at": to_datetime(change.state["UPDATED"]),
    }
