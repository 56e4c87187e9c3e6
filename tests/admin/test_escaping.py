"""What rows hold comes from people and other systems: it is shown as text, whatever it is."""

import pytest

from tests.admin import rows
from toa.core.clock import to_datetime
from toa.models import Delay

pytestmark = pytest.mark.django_db

HOSTILE = "</pre><script>alert('x')</script><img src=x onerror=alert(1)>&amp;"
ESCAPED = "&lt;/pre&gt;&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;"
SHORT = "<b>x</b>"


def hostile_rows(now):
    """A row of each table, with markup wherever a text or JSON fits."""
    json = {"input": {HOSTILE: [HOSTILE]}, "query": None}
    return [
        rows.delay(now, endpoint=HOSTILE, entity=f"store.orders:{HOSTILE}", name=HOSTILE, request=json, cause=json
            | {"endpoint": HOSTILE}, chain=[HOSTILE], source=SHORT),
        rows.delivery(now, endpoint=HOSTILE, event=HOSTILE, source=HOSTILE, source_id=HOSTILE, receiver=HOSTILE,
            target=HOSTILE, request=json, cause={"endpoint": HOSTILE}, chain=[HOSTILE]),
        rows.history(now, endpoint=HOSTILE, entity=HOSTILE, code=HOSTILE, cause={"endpoint": HOSTILE}, source=SHORT),
        rows.failure(now, endpoint=HOSTILE, entity=HOSTILE, error=HOSTILE, traceback=HOSTILE, request=json, row=json),
        rows.pulse(now, endpoint=HOSTILE, query=json, input=HOSTILE),
        rows.component(now, locator=HOSTILE, description=HOSTILE, manifest=json, operations=json),
        rows.process(now, host=HOSTILE),
        rows.schedule(now, endpoint=HOSTILE, input=HOSTILE, paused_at=to_datetime(now), paused_by=HOSTILE),
        rows.scheduled_call(now, endpoint=HOSTILE, entity=HOSTILE, request=json),
        rows.revision(now, component=HOSTILE, entity=HOSTILE, endpoint=HOSTILE, changes={HOSTILE: [HOSTILE, 1]}),
        rows.lock(now, key=HOSTILE, holder=HOSTILE),
        rows.run(now, endpoint=HOSTILE, key=HOSTILE, request=json, cause={"endpoint": HOSTILE}, chain=[HOSTILE],
            waits={"kind": "call", "name": HOSTILE, "position": 1, "call": "x"}, watches={HOSTILE: [now, now]}),
        rows.ended_run(now, endpoint=HOSTILE, key=HOSTILE, request=json, result=HOSTILE, error=HOSTILE, steps=[
            {"position": 0, "kind": SHORT, "name": HOSTILE, "outcome": "made", "value": HOSTILE, "at": now}]),
    ]  # fmt: skip


def test_what_rows_hold_is_shown_as_text(root, address, toa_clock):
    for row in hostile_rows(toa_clock.now):
        for page in (address(type(row)), address(type(row), row)):
            content = root.get(page).content.decode()
            assert "<script>alert" not in content
            assert "<img src=x" not in content
            assert SHORT not in content
            assert ESCAPED in content


def test_JSON_is_shown_indented(root, address, toa_clock):
    row = rows.delay(toa_clock.now, request={"input": {"reason": "Größe"}, "query": None})
    content = root.get(address(Delay, row)).content.decode()
    assert "{\n  &quot;input&quot;: {\n    &quot;reason&quot;: &quot;Größe&quot;\n  },\n" in content


@pytest.mark.parametrize("value", [None, [], {}, 0, False, "text", [1, [2]], {"endpoint": {"a": 1}}, {"endpoint": ""}])
def test_a_cause_of_any_form_is_shown(value, root, address, toa_clock):
    for row in (rows.history(toa_clock.now, cause=value), rows.delay(toa_clock.now, cause=value)):
        assert root.get(address(type(row))).status_code == 200
        assert root.get(address(type(row), row)).status_code == 200
