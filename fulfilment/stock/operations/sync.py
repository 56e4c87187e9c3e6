import time
from typing import Any

from django.db.models import Q

from fulfilment.stock.reconciling import Comparison, Correction, compare
from fulfilment.stock.types import EffectContext, SyncInput
from toa import Error, NotFound, PreconditionFailed
from toa.core.duration import SECOND_MS, parse_duration
from toa.exceptions import LeaseLost
from toa.typing import Query

ROUND = {"id": "fulfilment.stock.sync"}
"""How far the round over the shelves has come."""
ERRORS = 5
"""So many are told in the reply; the log has all."""


def effect(input: SyncInput, context: EffectContext) -> dict[str, Any] | Error:
    """Set the figures right that differ from the warehouse's shelves, page by page from where the last call ended.

    `available` becomes the shelf's figure less what is kept for orders; see `fulfilment.stock.reconciling`. What
    changed within the grace is left alone, and so is what changes while the warehouse is asked: each figure is set for
    the version that was read before. Nothing is set from a page that does not hold: the call fails with the cause, what
    earlier pages set stays, and the next call begins with that page. Replies with the counts: `made` were set,
    `refused` changed meanwhile, `failed` could not be set, `passed` are within the grace.
    """
    give_up = time.monotonic() + parse_duration(context.configuration.budget) / SECOND_MS
    counts: dict[str, Any] = {"made": 0, "refused": 0, "failed": 0, "passed": 0, "errors": []}
    place: str | None = context.remote.fulfilment.rounds.observe(query=ROUND).after
    while place is not None:
        found = _page(place, context)
        if isinstance(found, Error):
            return found
        for product in found.doubtful:
            _failed(product, "the warehouse tells two figures", counts, context)
        for correction in found.corrections:
            _set(correction, counts, context)
        counts["passed"] += len(found.fresh)
        if found.short:
            context.logger.warning("more is kept for orders than there is of %s", ", ".join(found.short[:5]))
        place = found.reached
        context.remote.fulfilment.rounds.assign(_reached(place, context), ROUND)
        if time.monotonic() > give_up:
            break
    return counts


def _page(after: str, context: EffectContext) -> Comparison | Error:
    """A page of the shop's copies, then of the warehouse's shelves, compared. Raises what asking the warehouse does."""
    limit = context.configuration.page
    asked = context.now()
    copies = context.local.enumerate(
        query={
            "criteria": Q(id__gt=after) if after else None,
            "sort": "id",
            "limit": limit,
            "projection": ["available", "reserved", "UPDATED", "VERSION"],
        }
    )
    page = context.remote.fulfilment.warehouse.inventory({"after": after, "limit": limit})
    if isinstance(page, Error):
        return page
    quiet_since = asked - parse_duration(context.configuration.grace)
    return compare(page["items"], page["next"], copies, full=len(copies) == limit, quiet_since=quiet_since)


def _set(correction: Correction, counts: dict[str, Any], context: EffectContext) -> None:
    """Set one figure. One that cannot be set does not keep the others waiting."""
    query: Query = {"id": correction.product, "version": correction.version}
    try:
        context.local.assign({"available": correction.available}, query)
    except (PreconditionFailed, NotFound):
        # Something happened to it since the warehouse was asked: the next round sees what came of it.
        counts["refused"] += 1
    except LeaseLost:
        # Another process goes on from here.
        raise
    except Exception as error:
        _failed(correction.product, f"{type(error).__name__}: {error}", counts, context)
    else:
        counts["made"] += 1


def _failed(product: str, why: str, counts: dict[str, Any], context: EffectContext) -> None:
    context.logger.warning("the figure of %r was not set: %s", product, why)
    counts["failed"] += 1
    if len(counts["errors"]) < ERRORS:
        counts["errors"].append(f"{product}: {why}")


def _reached(place: str | None, context: EffectContext) -> dict[str, Any]:
    return {"after": ""} | {"ended": context.now()} if place is None else {"after": place}
