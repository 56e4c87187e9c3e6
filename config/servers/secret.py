"""A secret of the checkout, made once: Django's key in development, and the root of the broker's password."""

import os
import secrets
from contextlib import suppress

from .place import Place
from .problem import ServerProblem


def secret_key(place: Place) -> str:
    """The secret, created where there is none. Two processes at the same time get the same one.

    Raises:
        ServerProblem: its file belongs to another user.
    """
    path = place.data / "secret_key"
    try:
        with suppress(FileNotFoundError):
            return path.read_text()
        place.prepare()
        # A name of its own, then a link that fails where another process was first: never half a secret.
        unfinished = place.data / f"secret_key.{os.getpid()}"
        unfinished.touch(mode=0o600)
        unfinished.write_text(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            path.hardlink_to(unfinished)
        unfinished.unlink()
        return path.read_text()
    except PermissionError as error:
        raise ServerProblem(f"{path} belongs to another user. Run as that user, or remove {place.data}.") from error
