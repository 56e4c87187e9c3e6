"""An effect on the outside, which is a file: it adds its key in the beginning, and lasts for a while."""

import os
import select


def effect(input, context):
    handle = os.open(input.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{context.key}\n".encode())
    os.close(handle)
    # What an outside system that answers late looks like from here.
    select.select([], [], [], input.get("seconds", 0))
