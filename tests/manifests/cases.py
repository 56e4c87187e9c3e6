"""The corpus of manifests: each case is one text file with a component's files, and what is wrong with them.

A file begins with a line that says what it shows. Sections follow, each under a line `==> KIND` or
`==> KIND FOLDER`; the folder is `store/things` where none is named:

- `manifest`: the YAML;
- `operations`: lines `name: signature`, each a file with that function (`async` for a workflow);
- `events`: lines `name: condition, payload`, each a file with those functions;
- `receivers`: names of the functions of `receivers.py`;
- `file PATH`: a file as it stands;
- `problems`: what `toa check` prints, without the folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
HOME = "store/things"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    about: str
    files: dict[str, str] = field(default_factory=dict)
    """Content by path."""
    problems: tuple[str, ...] = ()

    def unpack(self, root: Path) -> Path:
        """Write the case's files below `root`."""
        for path, content in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
        return root


def cases(kind: str) -> list[Case]:
    """All cases of `sound` or `broken`, by name."""
    return [_case(path) for path in sorted((CORPUS / kind).glob("*.txt"))]


def _case(path: Path) -> Case:
    about, _, rest = path.read_text(encoding="utf-8").partition("\n")
    files: dict[str, str] = {}
    problems: list[str] = []
    for section in rest.split("==> ")[1:]:
        title, _, body = section.partition("\n")
        kind, _, folder = title.partition(" ")
        lines = [line for line in body.splitlines() if line.strip()]
        match kind:
            case "problems":
                problems = lines
            case "file":
                files[folder] = body
            case _:
                files |= _component(kind, folder or HOME, body, lines)
    return Case(name=path.stem, about=about, files=files, problems=tuple(problems))


def _component(kind: str, folder: str, body: str, lines: list[str]) -> dict[str, str]:
    pairs = [tuple(part.strip() for part in line.split(":", 1)) for line in lines if ":" in line]
    match kind:
        case "manifest":
            return {f"{folder}/manifest.toa.yaml": body}
        case "operations":
            return {f"{folder}/operations/{name}.py": _function(signature) for name, signature in pairs}
        case "events":
            return {f"{folder}/events/{name}.py": _deciders(names) for name, names in pairs}
        case "receivers":
            return {f"{folder}/receivers.py": _deciders(body)}
    raise ValueError(f"no section is called {kind!r}")


def _function(signature: str) -> str:
    head = f"async def {signature.removeprefix('async ')}" if signature.startswith("async ") else f"def {signature}"
    return f"{head}:\n    return None\n"


def _deciders(names: str) -> str:
    return "".join(f"def {name.strip()}(state, origin):\n    return None\n\n\n" for name in names.split(","))
