"""Reading what operators type after a verb of `manage.py toa`: ids, durations, moments, and who they are."""

from __future__ import annotations

import argparse
import getpass
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from toa.core.clock import GREATEST, to_moment
from toa.core.duration import parse_duration
from toa.exceptions import ToaError

Value = TypeVar("Value")


def by_option(parser: ArgumentParser) -> None:
    """Let the verb take `--by`."""
    parser.add_argument("--by", default="", help="who asks for it, for the record (default: the user of this shell)")


def operator(options: Mapping[str, Any]) -> str:
    """Who asks: what `--by` says, else the user of this shell."""
    try:
        return options.get("by") or getpass.getuser()
    except (KeyError, OSError):
        return "manage.py"  # the user of a container often has no name


def identity(text: str) -> UUID:
    """An id: 32 hex digits, dashes allowed."""
    return _typed(text, UUID, "is no id; 32 hex digits, as `list` shows it")


def duration(text: str) -> int:
    """A duration with its unit; in ms."""
    return _typed(text, parse_duration, "is no duration; write 90s, 2h or 1d12h")


def point(text: str) -> int:
    """A moment: epoch ms, or ISO 8601 with its offset; in epoch ms."""
    return _typed(text, _point, "is no moment; epoch ms, or ISO 8601 with its offset: 2026-03-01T09:00:00+01:00")


def positive(text: str) -> int:
    """A whole number from 1."""
    return _typed(text, _positive, "is no whole number from 1")


def position(text: str) -> int:
    """A place in a list: a whole number from 0."""
    return _typed(text, _position, "is no whole number from 0")


def _typed(text: str, read: Callable[[str], Value], refusal: str) -> Value:
    try:
        return read(text)
    except (ValueError, ToaError):
        raise argparse.ArgumentTypeError(f"{text!r} {refusal}") from None


def _point(text: str) -> int:
    if text.isdecimal():
        value = int(text)
    else:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None:
            raise ValueError
        value = to_moment(read)
    if not 0 <= value <= GREATEST:
        raise ValueError
    return value


def _positive(text: str) -> int:
    return _from(1, text)


def _position(text: str) -> int:
    return _from(0, text)


def _from(least: int, text: str) -> int:
    value = int(text)
    if value < least:
        raise ValueError
    return value
