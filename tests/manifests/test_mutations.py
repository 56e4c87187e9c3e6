"""Whatever a manifest holds, reading it ends in a spec or in problems with places: never in an exception."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.manifests.cases import HOME, Case, cases
from tests.manifests.schema_strategies import PLAIN
from toa.core.specs import OperationType, Scope
from toa.manifests.compile import Loaded, compile_document
from toa.manifests.keys import ENTITY, MANIFEST, OPERATION, PULSE, SCHEDULE
from toa.manifests.keywords import KEYWORDS
from toa.manifests.reader import read
from toa.manifests.sources import OperationSource, Sources

SOUND = [case for case in cases("sound") if f"{HOME}/manifest.toa.yaml" in case.files]
NAMES = sorted(
    {*MANIFEST, *ENTITY, *OPERATION, *PULSE, *SCHEDULE, *KEYWORDS, "status", "observe", "string", "deadline"}
)
ODD = st.one_of(
    PLAIN,
    st.sampled_from(NAMES),
    st.sampled_from(NAMES).flatmap(lambda name: PLAIN.map(lambda value: {name: value})),
    st.sampled_from(["", "*", "0 9 * * *", "$now", "#", "#/definitions/x", "((", "a" * 70, "1h", "toa", "a.b.c", "-"]),
)


def sources(case: Case) -> Sources:
    """The operations of a case as their files say, without writing them."""
    operations = {}
    for path, text in case.files.items():
        if path.startswith(f"{HOME}/operations/") and "/_" not in path:
            name = path.rpartition("/")[2].removesuffix(".py")
            kind = next(kind for kind in OperationType if f"def {kind.value}(" in text)
            scope = next((scope for scope in Scope if f"input, {scope.value}, " in text), Scope.NONE)
            operations[name] = OperationSource(name=name, path=path, type=kind, scope=scope)
    return Sources(operations=operations, events={}, receivers=frozenset({"is_ours"}), problems=())


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=st.sampled_from(SOUND), data=st.data())
def test_a_sound_manifest_changed_anywhere_is_read_without_an_exception(case: Case, data: st.DataObject) -> None:
    manifest = read(case.files[f"{HOME}/manifest.toa.yaml"], "m").data or {}
    changed = copy.deepcopy(manifest)
    for _ in range(data.draw(st.integers(1, 3))):
        changed = _changed(changed, data)
    _check(compile_document(read(json.dumps(changed), "m"), "store.things", sources(case)))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(manifest=st.dictionaries(st.sampled_from(sorted(MANIFEST)), ODD, max_size=4))
def test_sections_of_any_content_are_read_without_an_exception(manifest: dict[str, Any]) -> None:
    nothing = Sources(operations={}, events={}, receivers=None, problems=())
    _check(compile_document(read(json.dumps(manifest), "m"), "store.things", nothing))


@pytest.mark.slow
@settings(max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=st.sampled_from(SOUND), data=st.data())
def test_a_sound_manifest_changed_anywhere_for_long(case: Case, data: st.DataObject) -> None:
    changed = _changed(copy.deepcopy(read(case.files[f"{HOME}/manifest.toa.yaml"], "m").data or {}), data)
    _check(compile_document(read(json.dumps(changed), "m"), "store.things", sources(case)))


def _check(loaded: Loaded) -> None:
    errors = [problem for problem in loaded.problems if problem.level == "error"]
    if loaded.spec is None:
        assert errors
    for problem in loaded.problems:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message
        assert len(str(problem)) < 2_000


def _changed(value: Any, data: st.DataObject) -> Any:
    """The value with one part of it, at some depth, replaced, removed, renamed or added."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 3)):
        key = data.draw(st.sampled_from(sorted(value)))
        match data.draw(st.sampled_from(["below", "below", "below", "remove", "rename", "add"])):
            case "remove":
                del value[key]
            case "rename":
                value[data.draw(st.sampled_from([*NAMES, key[:-1], key + "s"]))] = value.pop(key)
            case "add":
                value[data.draw(st.sampled_from(NAMES))] = data.draw(ODD)
            case _:
                value[key] = _changed(value[key], data)
        return value
    if isinstance(value, list) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        value[index] = _changed(value[index], data)
        return value
    return data.draw(ODD)
