"""Vouchers: valid until a moment, so many times, also when everybody wants the last one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from store.vouchers.models import Voucher
from tests.together import together
from toa import Error, InvalidInput
from toa.exceptions import OnceMismatch
from toa.models import Delay, Delivery, History, Once
from toa.runtime import clock

REDEEM = "store.vouchers.redeem"
HOUR = 3_600_000


def issue(expires: int, *, left: int = 5, discount: int = 10) -> str:
    identity: str = Voucher.operations.create(discount=discount, left=left, expires=expires).id
    return identity


def left(identity: str) -> tuple[int, int]:
    """How many uses are left, and the VERSION."""
    row = Voucher.objects.get(id=identity)
    return row.left, row.version


@pytest.mark.parametrize(("offset", "expired"), [(-1, False), (0, False), (1, True)])
def test_W1_a_voucher_is_valid_up_to_its_last_millisecond(toa_clock, offset, expired):
    expires = toa_clock.now + HOUR
    voucher = issue(expires)

    toa_clock.set(expires + offset)
    reply = Voucher.operations.redeem(voucher)

    if expired:
        assert reply == Error("EXPIRED", expires=expires)
        assert left(voucher) == (5, 1)
    else:
        assert reply == {"discount": 10}
        assert left(voucher) == (4, 2)


def test_W1_nothing_is_armed_and_nothing_runs_at_the_moment(toa_clock):
    voucher = issue(toa_clock.now + HOUR)
    assert not Delay.objects.exists()
    toa_clock.advance("2h")
    assert not History.objects.filter(endpoint__startswith="store.vouchers").exists()
    assert left(voucher) == (5, 1)


def test_W1_extending_is_one_write(toa_clock):
    expires = toa_clock.now + HOUR
    voucher = issue(expires)
    toa_clock.set(expires + 1)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert Voucher.operations.extend(voucher, expires=expires + HOUR) is None
    written = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert len(written) == 1
    assert written[0].startswith('UPDATE "store_vouchers_voucher" SET "expires" =')
    assert not (Delay.objects.exists() or Delivery.objects.exists())
    assert Voucher.operations.redeem(voucher) == {"discount": 10}
    assert Voucher.operations.extend(voucher, expires=expires) == Error("NOT_LATER", expires=expires + HOUR)


PROCESS = """
import sys, time
import django
django.setup()
# A host whose own clock is an hour ahead, or an hour behind.
real, skew = time.time, int(sys.argv[1])
time.time = lambda: real() + skew
import toa
reply = toa.call("store.vouchers.redeem", id=sys.argv[2])
print(reply.code if isinstance(reply, toa.Error) else "valid")
"""


@pytest.mark.processes
def test_W1_every_process_decides_alike_whatever_its_own_clock_says(process_environment):
    now = clock.database_now()
    valid, expired = issue(now + HOUR // 2), issue(now - 1)

    answers = {
        (name, skew): redeemed(process_environment, skew, voucher)
        for name, voucher in (("valid", valid), ("expired", expired))
        for skew in (-3600, 3600)
    }
    assert answers == {
        ("valid", -3600): "valid",
        ("valid", 3600): "valid",
        ("expired", -3600): "EXPIRED",
        ("expired", 3600): "EXPIRED",
    }


def test_W2_ten_concurrent_redemptions_of_the_last_use_succeed_once(transactional_db, toa_clock):
    voucher = issue(toa_clock.now + HOUR, left=1)

    replies = together(10, lambda i: Voucher.operations.redeem(voucher, once=f"key-{i}"))

    assert Counter(map(str, replies)) == {"{'discount': 10}": 1, "EXHAUSTED": 9}
    assert left(voucher) == (0, 2)
    assert Once.objects.filter(endpoint=REDEEM).count() == 1, "an Error is not remembered"


def test_W2_ten_concurrent_redemptions_with_one_key_take_one_use_and_all_get_its_reply(transactional_db, toa_clock):
    voucher = issue(toa_clock.now + HOUR, left=5)

    replies = together(10, lambda i: Voucher.operations.redeem(voucher, once="key"))

    assert replies == [{"discount": 10}] * 10
    assert left(voucher) == (4, 2)


def test_M11_one_key_at_the_same_moment_on_the_last_use_gives_both_the_first_reply(transactional_db, toa_clock):
    for _ in range(5):
        voucher = issue(toa_clock.now + HOUR, left=1)
        replies = together(2, lambda i, voucher=voucher: Voucher.operations.redeem(voucher, once="key", caller=voucher))
        assert replies == [{"discount": 10}] * 2
        assert left(voucher) == (0, 2)


def test_M11_one_key_in_sequence_gives_the_first_reply_also_when_no_use_is_left(toa_clock):
    voucher = issue(toa_clock.now + HOUR, left=1)

    assert Voucher.operations.redeem(voucher, once="key") == {"discount": 10}
    toa_clock.set(toa_clock.now + 1)
    assert Voucher.operations.redeem(voucher, once="key") == {"discount": 10}
    assert Voucher.operations.redeem(voucher, once="other") == Error("EXHAUSTED")
    assert left(voucher) == (0, 2)


def test_M11_another_request_with_that_key_is_refused_and_another_callers_key_is_another_key(toa_clock):
    first, second = issue(toa_clock.now + HOUR), issue(toa_clock.now + HOUR)

    Voucher.operations.redeem(first, once="key", caller="anna")
    with pytest.raises(OnceMismatch):
        Voucher.operations.redeem(second, once="key", caller="anna")
    assert Voucher.operations.redeem(second, once="key", caller="ben") == {"discount": 10}
    # The same key of another endpoint is another key.
    assert Voucher.operations.create(discount=5, left=1, expires=1, once="key", caller="anna").id
    assert (left(first), left(second)) == ((4, 2), (4, 2))


def test_M11_a_key_whose_first_call_was_refused_may_be_used_again(toa_clock):
    voucher = issue(toa_clock.now - 1)

    assert Voucher.operations.redeem(voucher, once="key").code == "EXPIRED"
    Voucher.operations.extend(voucher, expires=toa_clock.now + HOUR)
    assert Voucher.operations.redeem(voucher, once="key") == {"discount": 10}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"discount": 0}, "/discount"),
        ({"discount": 101}, "/discount"),
        ({"left": 0}, "/left"),
        ({"expires": "now"}, "/expires"),
    ],
)
def test_an_unfit_voucher_is_refused_with_its_place(db, change, pointer):
    with pytest.raises(InvalidInput) as refusal:
        Voucher.operations.create(**{"discount": 10, "left": 1, "expires": 1, **change})
    assert [place for place, _ in refusal.value.problems] == [pointer]
    assert not Voucher.objects.exists()


def redeemed(environment: dict[str, str], skew: int, voucher: str) -> str:
    """What a process of its own answers, whose host's clock is `skew` seconds off."""
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, str(skew), voucher],
        env={**environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
        cwd=os.getcwd(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()
