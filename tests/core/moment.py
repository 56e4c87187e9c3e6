"""Moments written as text, for tests that are read beside a calendar."""

from __future__ import annotations

from datetime import UTC, datetime


def ms(text: str) -> int:
    """Epoch ms of an ISO text; without an offset it is UTC."""
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def text(moment: int | None) -> str | None:
    """An epoch ms moment as ISO text in UTC, to the second."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
