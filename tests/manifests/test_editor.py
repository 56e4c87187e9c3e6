"""The manifest's schema for editors says what the reader says, as far as a schema can."""

from __future__ import annotations

import jsonschema_rs
import pytest
from jsonschema import Draft7Validator

from tests.manifests.cases import Case, cases
from toa.manifests.editor import SCHEMA_PATH, manifest_schema, schema_text
from toa.manifests.reader import read

SCHEMA = manifest_schema()
BROKEN = cases("broken")


def documents(case: Case) -> list[object]:
    """The manifests of a case that YAML can read at all."""
    read_ones = [read(text, path) for path, text in case.files.items() if path.endswith(".yaml")]
    return [one.data for one in read_ones if one.data is not None]


def test_the_shipped_file_is_what_the_tables_say() -> None:
    assert SCHEMA_PATH.read_text(encoding="utf-8") == schema_text()


def test_it_is_a_sound_draft_07_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("case", cases("sound"), ids=lambda case: case.name)
def test_every_sound_manifest_fits(case: Case) -> None:
    fits = jsonschema_rs.Draft7Validator(SCHEMA).is_valid
    assert documents(case)
    assert all(fits(data) for data in documents(case))


def test_a_fair_share_of_the_broken_ones_does_not_fit() -> None:
    fits = jsonschema_rs.Draft7Validator(SCHEMA).is_valid
    refused = {case.name[:2] for case in BROKEN if not all(fits(data) for data in documents(case))}
    # Unknown keys, wrong kinds and unknown choices an editor can see; files, names and other manifests it cannot.
    assert refused >= {"12", "13", "14", "18", "19", "31", "35", "36", "37", "42", "50", "53", "54", "58"}
    assert len(refused) >= 28
