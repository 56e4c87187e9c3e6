"""What a process does once, where it begins to serve or to look."""

import gc

import pytest
from celery.signals import beat_init, celeryd_after_setup

import toa.tasks  # noqa: F401


@pytest.fixture
def thawed():
    yield
    gc.unfreeze()


@pytest.mark.parametrize("start", [beat_init, celeryd_after_setup])
def test_what_is_loaded_when_a_process_starts_is_no_work_for_the_garbage_collector(start, thawed):
    loaded = len(gc.get_objects())
    start.send(sender=None)
    assert gc.get_freeze_count() > loaded / 2
    assert len(gc.get_objects()) < loaded / 10
