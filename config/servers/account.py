"""The user that the database runs as, where everything else runs as root: PostgreSQL refuses to be root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .problem import ServerProblem

# Taken if they exist: a database's own user is made for this, and has nothing else to lose.
KNOWN_USERS = ("postgres", "pgserver")
USER_TO_ADD = "pgserver"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user of the operating system."""

    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        """Give `folder` and everything in it to this user, if it is not so already."""
        if folder.stat().st_uid == self.uid:
            return
        # The folder itself comes last, so that an interrupted change is seen and made again.
        for parent, _, files in os.walk(folder, topdown=False):
            for path in (*(os.path.join(parent, file) for file in files), parent):
                os.chown(path, self.uid, self.gid, follow_symlinks=False)


def database_account(folder: Path) -> Account:
    """The user for a database in `folder`: its owner, else a database's user, which is added if need be.

    Raises:
        ServerProblem: there is no such user and none can be added.
    """
    if folder.exists() and (owner := folder.stat()).st_uid != 0:
        return Account(uid=owner.st_uid, gid=owner.st_gid)
    for name in KNOWN_USERS:
        if found := named(name):
            return found
    add_user(USER_TO_ADD)
    if found := named(USER_TO_ADD):
        return found
    raise ServerProblem(
        f"PostgreSQL does not run as root, and the user {USER_TO_ADD!r} could not be added. "
        f"Add it, run as an ordinary user, or set DATABASE_URL."
    )


def named(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def add_user(name: str) -> None:
    """Add a system user without a home, a shell or a password."""
    command = ["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent"]
    try:
        subprocess.run([*command, "--shell", "/usr/sbin/nologin", name], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        # The caller looks whether the user exists: another process may have added it at the same time.
        return
