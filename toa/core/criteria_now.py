"""Criteria at one moment: `$now` replaced by what it stands for."""

from __future__ import annotations

from dataclasses import replace

from toa.core.clock import to_datetime
from toa.core.criteria_nodes import And, Comparison, Node, Now, Or
from toa.core.specs import PropertyType


def at_moment(node: Node, now: int) -> Node:
    """The node with each `$now` replaced by a moment in epoch ms, so that it asks the same whenever it is asked."""
    match node:
        case And(items):
            return And(tuple(at_moment(item, now) for item in items))
        case Or(items):
            return Or(tuple(at_moment(item, now) for item in items))
        case Comparison() if any(isinstance(value, Now) for value in node.values):
            return replace(node, values=(to_datetime(now) if node.type is PropertyType.DATETIME else now,))
    return node
