"""Builds the virtual environment of the checkout, and repairs it: `python3 config/bootstrap.py`.

Run by `make` before everything else, so it uses the standard library alone, and it is read by interpreters
that are too old for the project, to which it says so. What is in place already is left alone: a stamp in the
environment says for which requirements, interpreter and folder it was completed.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Variables that would make the new environment's Python or pip look elsewhere.
MISLEADING = ("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")


class Problem(Exception):
    """The environment cannot be built. The message says why, and what to do."""


class Environment:
    """The virtual environment of one checkout."""

    def __init__(self, checkout: str) -> None:
        self.checkout = os.path.realpath(checkout)
        self.folder = os.path.join(self.checkout, ".venv")
        self.python = os.path.join(self.folder, "bin", "python")
        self.requirements = os.path.join(self.checkout, "requirements", "dev.txt")
        self.stamp = os.path.join(self.folder, ".complete")
        self.mark = os.path.join(self.folder, ".unfinished")
        self.log = os.path.join(self.folder, "install.log")

    def fingerprint(self, interpreter: str) -> str:
        """What the environment was built from. A copy of it in another folder is none."""
        with open(self.requirements, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return "\n".join([digest, interpreter, "%d.%d" % sys.version_info[:2], self.folder, ""])

    def is_complete(self, interpreter: str) -> bool:
        if os.path.exists(self.mark) or not os.access(self.python, os.X_OK):
            return False
        return read(self.stamp) == self.fingerprint(interpreter)

    def is_usable(self, interpreter: str) -> bool:
        """Whether requirements can be installed into what is there."""
        if os.path.exists(self.mark) or not runs([self.python, "-m", "pip", "--version"]):
            return False
        lines = read(os.path.join(self.folder, "pyvenv.cfg")).splitlines()
        facts = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
        made_in = facts.get("command", self.folder).split(" ")[-1]
        return (
            os.path.realpath(facts.get("executable", "")) == interpreter
            and facts.get("version", "").startswith("%d.%d." % sys.version_info[:2])
            and os.path.realpath(made_in) == self.folder
        )

    def complete(self, interpreter: str) -> None:
        if not self.is_usable(interpreter):
            self.create(interpreter)
        self.install()
        write(self.stamp, self.fingerprint(interpreter))

    def create(self, interpreter: str) -> None:
        for module in ("venv", "ensurepip"):
            if importlib.util.find_spec(module) is None:
                raise Problem(
                    "Python at %s comes without its module %r. Install it (Debian, Ubuntu: apt-get install "
                    "python%d.%d-venv), or name another Python: make PYTHON=/path/to/python3."
                    % (interpreter, module, *sys.version_info[:2])
                )
        say("Creating .venv with Python %d.%d.%d." % sys.version_info[:3])
        shutil.rmtree(self.folder, ignore_errors=True)
        done = run([interpreter, "-m", "venv", self.folder])
        if done.returncode:
            raise Problem("The virtual environment could not be created: %s" % last_words(done.stdout))
        if not runs([self.python, "-m", "pip", "--version"]):
            raise Problem(
                "The virtual environment has no working pip. Install it for %s (Debian, Ubuntu: "
                "apt-get install python3-pip python3-venv), then try again." % interpreter
            )

    def install(self) -> None:
        say("Installing the pinned requirements; the first time takes about a minute.")
        # Until it is removed, what is in the environment may be half of a package.
        write(self.mark, "")
        command = [self.python, "-m", "pip", "install", "--requirement", self.requirements]
        done = run([*command, "--disable-pip-version-check", "--no-input", "--progress-bar", "off"])
        write(self.log, done.stdout)
        if done.returncode:
            raise Problem(
                "The requirements could not be installed: %s\n"
                "Everything that pip said is in %s. Once that is solved, the same command goes on."
                % (last_words(done.stdout), self.log)
            )
        os.remove(self.mark)


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def write(path: str, text: str) -> None:
    """Write a file whole, or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def run(command: "list[str]") -> "subprocess.CompletedProcess[str]":
    """Run `command` with all of its output in `stdout`."""
    environment = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )


def runs(command: "list[str]") -> bool:
    try:
        return run(command).returncode == 0
    except OSError:
        return False


def last_words(output: str) -> str:
    """What a person needs of `output`: its errors, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return "\n".join(errors[-3:] or lines[-1:] or ["it said nothing."])


def say(sentence: str) -> None:
    print(sentence, flush=True)


def base_interpreter() -> str:
    """The real path of the interpreter behind this one, which may be that of an environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def check_version(version: "tuple[int, int, int]", executable: str) -> None:
    if version < OLDEST:
        raise Problem(
            "toa needs Python 3.11, 3.12 or 3.13; %s is %d.%d.%d. Install one of them, or name it: "
            "make PYTHON=/path/to/python3." % (executable, *version)
        )


def main() -> int:
    try:
        check_version(sys.version_info[:3], sys.executable)
        environment = Environment(CHECKOUT)
        interpreter = base_interpreter()
        if environment.is_complete(interpreter):
            return 0
        # Two at a time would install over each other; the second finds everything done.
        lock = os.open(environment.checkout, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not environment.is_complete(interpreter):
            environment.complete(interpreter)
        return 0
    except Problem as problem:
        say(str(problem))
    except OSError as error:
        say("The virtual environment cannot be written: %s." % error)
    except KeyboardInterrupt:
        say("\nInterrupted. The same command repairs what was left unfinished.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
