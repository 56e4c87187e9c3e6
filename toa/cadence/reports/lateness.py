"""How late the calls were that were made last: by source, over a bounded number of lines of the history."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connections

from toa.runtime import settings

LINES = 1_000
"""Lines of the history that are looked at."""

# A send is kept among the delays.
_MADE_LAST = f"""
SELECT CASE h.source WHEN 'send' THEN 'delay' ELSE h.source END AS of, count(*),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY h.lateness_ms),
       percentile_disc(0.99) WITHIN GROUP (ORDER BY h.lateness_ms), max(h.lateness_ms)
  FROM (SELECT source, outcome, lateness_ms FROM toa_history ORDER BY at DESC LIMIT {LINES}) AS h
 WHERE h.outcome = 'made' GROUP BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """Of some calls of one source: start minus due, in ms."""

    calls: int
    median: int
    p99: int
    most: int


def lately() -> dict[str, Lateness]:
    """By source, the lateness of what was made among the last thousand settled calls. A source without any is left
    out; deadlines, which settle no call, are."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_MADE_LAST)
        return {
            source: Lateness(calls=calls, median=median, p99=p99, most=most)
            for source, calls, median, p99, most in cursor.fetchall()
        }
