"""Where the servers of a checkout keep their files, and the database's its socket."""

import hashlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .problem import ServerProblem

# The kernel cuts the path of a Unix socket at about 108 bytes (104 on some systems).
LONGEST_SOCKET_PATH = 100
SOCKET_NAME = ".s.PGSQL.5432"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folders of one checkout's servers. Finding them creates nothing."""

    checkout: Path
    data: Path
    sockets: Path
    # Whether the database runs as another user, as it must where everything else runs as root.
    as_other_user: bool

    @property
    def postgres(self) -> Path:
        return self.data / "postgres"

    @property
    def valkey(self) -> Path:
        return self.data / "valkey"

    @property
    def socket(self) -> Path:
        return self.sockets / SOCKET_NAME

    def prepare(self) -> None:
        """Create the folders that everything else is put into.

        Raises:
            ServerProblem: one cannot be made, or somebody else's is in its place.
        """
        for folder in {self.data, self.sockets.parent}:
            # Another user has to pass through it; what is inside is closed to everybody else.
            own_folder(folder, mode=0o711 if self.as_other_user else 0o700)


def find_place(checkout: Path, *, as_root: bool | None = None) -> Place:
    """The place of the servers of `checkout`: `.data` inside it, or a folder under the temporary ones.

    The latter where the database could not reach the former: it runs as another user where
    everything else runs as root, and a folder above the checkout may be closed to that user.
    `checkout` has no links in it: running servers are known by the real path of their folder.
    """
    if as_root is None:
        as_root = os.geteuid() == 0
    inside = checkout / ".data"
    outside = temporary_folder() / name_of(checkout)
    data = outside if as_root and not is_open(checkout) else inside
    sockets = data / "run"
    if not fits_a_socket(sockets):
        sockets = outside / "run"
    return Place(checkout=checkout, data=data, sockets=sockets, as_other_user=as_root)


def name_of(checkout: Path) -> str:
    """A name for what belongs to `checkout` outside of it: readable, and different for each path."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", checkout.name).strip("-")[:24] or "checkout"
    return f"toa-{readable}-{hashlib.sha256(os.fsencode(checkout)).hexdigest()[:8]}"


def temporary_folder() -> Path:
    """The system's folder for temporary files.

    The fixed one first: were it `TMPDIR`, two shells of one user could start two databases.
    """
    for folder in (Path("/tmp"), Path("/var/tmp")):
        if folder.is_dir() and os.access(folder, os.W_OK):
            return folder.resolve()
    return Path(tempfile.gettempdir()).resolve()


def is_open(path: Path) -> bool:
    """Whether any user can pass through `path` and every folder above it."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def fits_a_socket(folder: Path) -> bool:
    """Whether the database can be told to put its socket into `folder`.

    The folder is one of a list in the database's settings, so a comma or a quote would be read as more.
    """
    path = os.fsencode(folder / SOCKET_NAME)
    return len(path) <= LONGEST_SOCKET_PATH and re.fullmatch(rb"[A-Za-z0-9/._ +@=~-]+", path) is not None


def own_folder(folder: Path, *, mode: int, owner: int | None = None, group: int = -1) -> None:
    """Create `folder`, or make sure that the one in place is ours, and set its mode and owner.

    A name under the temporary files can be guessed, so another user may have put a folder or a link there.

    Raises:
        ServerProblem: it cannot be created, or it belongs to somebody else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.geteuid(), owner}:
            raise ServerProblem(
                f"{folder} is not a folder of the user that runs this (it belongs to user {found.st_uid}). "
                f"Run as that user, or remove it."
            )
        if stat.S_IMODE(found.st_mode) != mode:
            folder.chmod(mode)
        if owner is not None and found.st_uid != owner:
            os.chown(folder, owner, group)
    except OSError as error:
        raise ServerProblem(f"The servers cannot keep their files in {folder}: {error.strerror}.") from error
