"""What is another's cannot be seen, changed, guessed or told from what is not there."""

from __future__ import annotations

import pytest

from tests.rest.calling import ORDERS, placed

DESKS = "/api/components/desks/"


@pytest.mark.parametrize(
    ("method", "suffix", "body"), [("GET", "", None), ("GET", "?projection=total", None), ("POST", "cancel/", "X")]
)
@pytest.mark.parametrize("version", [None, '"1"', '"9"'])
def test_anothers_order_is_answered_like_one_that_never_was(anna, bob, method, suffix, body, version):
    path = placed(anna, "A-1")
    missing = f"{ORDERS}{'0' * 32}/"
    headers = {} if version is None else {"if_match": version}
    sent = {} if body is None else {"body": {"reason": body}}

    answers = [bob.call(method, f"{where}{suffix}", **sent, **headers) for where in (path, missing)]

    assert [one.status for one in answers] == [404, 404]
    assert answers[0].json == answers[1].json
    assert anna.get(path).json["status"] == "pending"


@pytest.mark.parametrize(
    "criteria",
    [
        "customer==anna",
        "total>0",
        "customer==anna,customer==bob",
        "customer!=bob",
        "reference==A-1",
        "reference==A-1,reference!=A-1",
        "(customer==anna);(status==pending)",
        "id!=null,customer==bob",
        "VERSION>=0",
    ],
)
def test_criteria_are_no_oracle_on_anothers_rows(anna, bob, criteria):
    placed(anna, "A-1", total="7.00")

    assert bob.get(f"{ORDERS}?criteria={criteria}&sort=-total&projection=total").json == {"items": [], "next": None}


def test_a_cursor_of_anothers_page_leads_to_ones_own_rows_alone(anna, bob):
    for number in range(3):
        placed(anna, f"A-{number}")
    placed(bob, "B-1")
    theirs = anna.get(f"{ORDERS}?limit=1").json["next"]

    assert [one["customer"] for one in bob.get(theirs).json["items"]] == ["bob"]


def test_an_object_is_neither_given_away_nor_taken(anna, bob):
    path = f"{DESKS}{anna.post(DESKS, {'title': 'mine'}).json['id']}/"

    for api in (anna, bob):
        refused = api.call("PATCH", path, {"keeper": "bob"}).problem()
        assert refused["status"] == 400 and refused["errors"][0]["pointer"] == "/keeper"
    assert anna.get(path).json["keeper"] == "anna"


def test_quotes_in_a_name_stay_within_the_name(toa_clock):
    from tests.rest.conftest import api_of

    placed(api_of("anna"), "A-1")
    odd = api_of("x',customer!='y\\")

    assert odd.get(ORDERS).json["items"] == []
    placed(odd, "O-1")
    assert [one["reference"] for one in odd.get(ORDERS).json["items"]] == ["O-1"]


def test_a_customers_own_account_is_found_by_id_alone(anna, bob):
    assert anna.get("/api/loyalty/anna/").json["id"] == "anna"
    assert anna.get("/api/loyalty/bob/").problem()["status"] == 404


def test_an_id_that_no_object_could_have_is_found_nowhere_though_every_other_reads_as_a_blank(toa_clock):
    from tests.rest.conftest import api_of

    long = "x" * 65
    assert api_of(long).get(f"/api/loyalty/{long}/").problem()["status"] == 404
    assert api_of(long[1:]).get(f"/api/loyalty/{long[1:]}/").json["VERSION"] == 0


def test_what_toa_notes_about_its_attempts_is_neither_shown_nor_asked_for(anna):
    path = f"{DESKS}{anna.post(DESKS, {'title': 'mine'}).json['id']}/"

    assert "CLOCK" not in anna.get(path).json
    assert "CLOCK" not in anna.get(DESKS).json["items"][0]
    for asked in ("criteria=CLOCK.attempts==1", "sort=CLOCK", "projection=CLOCK"):
        assert anna.get(f"{DESKS}?{asked}").problem()["kind"] == "query"
