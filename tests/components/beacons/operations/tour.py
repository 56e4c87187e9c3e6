"""A sweep in code over open beacons, as `ASKED` says."""

import toa

ASKED = {}


def effect(input, context):
    asked = {"criteria": "open==true", "sort": "until", "limit": 3, **ASKED}
    each = asked.pop("each", lambda beacon: context.local.lapse(None, {"id": beacon.id}))
    return toa.sweep(context, each=each, **asked)
