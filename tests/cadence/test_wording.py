"""Cron expressions in words, with the package and without it."""

import pytest

from toa.cadence.schedules import wording


@pytest.fixture(autouse=True)
def fresh():
    wording.in_words.cache_clear()
    yield
    wording.in_words.cache_clear()


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 * * mon", "At 09:00, only on Monday"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("0 9-17 * * 1-5", "Between 09:00 and 17:59, Monday through Friday"),
        ("0 0 13 * fri", "At 00:00, on day 13 of the month; also at 00:00, only on Friday"),
    ],
)
def test_an_expression_in_words(expression, words):
    assert wording.in_words(expression) == words


def test_without_the_package_it_is_the_bare_expression(monkeypatch):
    monkeypatch.setattr(wording, "get_description", None)
    assert wording.in_words("0 9 * * mon") == "0 9 * * mon"


def test_what_the_package_cannot_read_is_the_bare_expression(monkeypatch):
    def stumble(*_):
        raise ValueError("no idea")

    monkeypatch.setattr(wording, "get_description", stumble)
    assert wording.in_words("0 9 * * mon") == "0 9 * * mon"
