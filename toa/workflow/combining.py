"""What a workflow is written with, beside calls: moments, watches, retries, deadlines.

`toa.time` and `toa.retry` are made of these. What is wrong with an argument is said where it stands, before anything
is stored.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Generator
from typing import Any, NoReturn

from toa.core.duration import MAX_DURATION_MS, format_duration, parse_duration
from toa.core.moments import check_moment
from toa.exceptions import DeadlineExceeded, InvalidDuration, InvalidInput, InvalidSchedule
from toa.workflow.asking import BackOff, EnterDeadline, EnterRetry, EnterWatch, Now, Occur, Sleep
from toa.workflow.frames import Deadline, Expired, Retry, Watch
from toa.workflow.rhythms import Cron, Interval, Rhythm

LONGEST_KEY = 180
"""Characters of the key of a watch."""


class Doing:
    """Something to be awaited once, made when it is."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._function = function
        self._arguments = arguments

    def __await__(self) -> Generator[Any, Any, Any]:
        answer = yield from self._function(*self._arguments).__await__()
        return answer


def now() -> Now:
    """`await time.now()`: the present moment in epoch ms, the same at every replay once a later step is kept."""
    return Now()


def sleep(duration: int | float | str) -> Sleep:
    """`await time.sleep("3d")`: go on after that time, ms or text. Zero or less goes on at once.

    The moment is fixed when the sleep begins; one that passed while nothing ran is over when something does. Raises
    InvalidDuration for NaN, infinities and more than a hundred years.
    """
    if isinstance(duration, str):
        return Sleep(for_ms=parse_duration(duration))
    if isinstance(duration, bool) or not isinstance(duration, int | float):
        raise InvalidDuration(f"a sleep is a number of ms or text, not {type(duration).__name__}")
    if not math.isfinite(duration) or duration > MAX_DURATION_MS:
        raise InvalidDuration(f"a sleep of {duration} ms is no duration of a hundred years or less")
    return Sleep(for_ms=max(0, math.ceil(duration)))


def sleep_until(moment: int) -> Sleep:
    """`await time.sleep_until(moment)`: go on at a moment, epoch ms; at once where it has passed.

    Raises InvalidMoment for anything but a whole number within the years 1 to 9999.
    """
    return Sleep(until=check_moment(moment))


def watch(rhythm: Interval | Cron, deliver: Callable[[int], Awaitable[object] | None], *, key: str = "") -> Doing:
    """`await time.watch(time.cron("0 9 * * *", "Asia/Tokyo"), deliver)`: have `deliver(moment)` called at each
    occurrence, one after another, for ever.

    `deliver` is a function or an `async def`; an exception of it ends the watch and is raised here. What was missed
    gives one call, for the earliest. The watch is known by `key`, which has to be its own within the run, or by its
    place; under either name it keeps its cursor over restarts, retries and deploys.
    """
    if not isinstance(rhythm, Interval | Cron):
        raise InvalidSchedule(
            f"a watch follows time.interval(…) or time.cron(…), not {type(rhythm).__name__}",
            hint='time.cron("0 9 * * *", "Europe/Berlin")',
        )
    if not callable(deliver):
        raise InvalidInput("a watch needs a function to call", hint="time.watch(rhythm, deliver)")
    if not isinstance(key, str) or len(key) > LONGEST_KEY or key.startswith("#"):
        raise InvalidInput(f"the key of a watch is text of up to {LONGEST_KEY} characters that begins with no '#'")
    return Doing(_watch, rhythm, deliver, key)


def with_deadline(duration: int | str, body: Callable[[], Awaitable[Any]]) -> Doing:
    """`await time.with_deadline("1h", body)`: the result of `body()`, or DeadlineExceeded where it is not over in time.

    What the body waits for then is given up: a call of an effect loses its lease. Its `finally` blocks run.
    """
    for_ms = parse_duration(duration)
    if not callable(body):
        raise InvalidInput("with_deadline needs a function to call", hint="time.with_deadline('1h', body)")
    return Doing(_with_deadline, for_ms, body)


def forever(
    body: Callable[[], Awaitable[Any]], *, first: int | str = "1s", factor: float = 2, cap: int | str = "5m"
) -> Doing:
    """`await retry.forever(body)`: the result of `body()`, called again after each exception of it.

    The wait is `first`, then `factor` times longer each time, at most `cap` (ms or text). It starts afresh once a
    delivery of a watch in it went well. Rows stay the same however often it fails.
    """
    return Doing(_retrying, _policy("forever", body, None, first, factor, cap), body)


def exponential(
    body: Callable[[], Awaitable[Any]],
    *,
    attempts: int = 5,
    first: int | str = "1s",
    factor: float = 2,
    cap: int | str = "5m",
) -> Doing:
    """`await retry.exponential(body, attempts=5)`: as `forever`, at most so often; the last exception is raised."""
    if type(attempts) is not int or attempts < 1:
        raise InvalidInput(f"attempts is a whole number from 1, not {attempts!r}")
    return Doing(_retrying, _policy("exponential", body, attempts, first, factor, cap), body)


def _policy(name: str, body: Any, attempts: int | None, first: int | str, factor: float, cap: int | str) -> EnterRetry:
    if not callable(body):
        raise InvalidInput(f"retry.{name} needs a function to call", hint=f"retry.{name}(body)")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor <= 1000:
        raise InvalidInput(f"factor is a number from 1 to 1000, not {factor!r}")
    first_ms, cap_ms = parse_duration(first), parse_duration(cap)
    if first_ms > cap_ms:
        raise InvalidInput(
            f"first is {format_duration(first_ms)}, and no wait is longer than cap, {format_duration(cap_ms)}"
        )
    return EnterRetry(name=name, attempts=attempts, first_ms=first_ms, factor=factor, cap_ms=cap_ms)


async def _watch(rhythm: Rhythm, deliver: Callable[[int], Any], key: str) -> NoReturn:
    frame: Watch = await EnterWatch(name=key)
    try:
        while True:
            delivered = deliver(await Occur(watch=frame, rhythm=rhythm))
            if inspect.isawaitable(delivered):
                await delivered
            frame.settled()
    finally:
        frame.leave()


async def _with_deadline(for_ms: int, body: Callable[[], Awaitable[Any]]) -> Any:
    frame: Deadline = await EnterDeadline(for_ms=for_ms)
    try:
        return await body()
    except Expired as expired:
        if expired.place != frame.place:
            raise
        raise DeadlineExceeded(f"not over within {for_ms} ms") from None
    finally:
        frame.leave()


async def _retrying(policy: EnterRetry, body: Callable[[], Awaitable[Any]]) -> Any:
    frame: Retry = await policy
    try:
        while True:
            await BackOff(retry=frame)
            try:
                return await body()
            except Exception as error:
                if not frame.failed(error):
                    raise
    finally:
        frame.leave()
