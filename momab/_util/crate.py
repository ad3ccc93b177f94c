"""What a command has made, described for machines: an RO-Crate beside the files.

``ro-crate-metadata.json`` is plain JSON-LD after RO-Crate 1.1 and its profile Process Run Crate:
one action, the program that acted, its parameters, its inputs and outputs with their digests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from momab._util.files import write_text
from momab._util.manifest import file_digest

CRATE = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
_KINDS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
}


def write_crate(
    folder: Path,
    command: str,
    parameters: Mapping[str, Any],
    inputs: Iterable[Path],
    outputs: Iterable[Path],
    versions: Mapping[str, str],
) -> Path:
    """Describe one run of a command in the folder of its outputs.

    Inputs need not lie in the folder: they are known by name and digest.  ``versions`` has the
    program itself under ``momab``, and what it rests on.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = [_file(path.relative_to(folder).as_posix(), path) for path in sorted(set(outputs))]
    read = [
        _file(f"#input-{number}", path, "CreativeWork")
        for number, path in enumerate(sorted(set(inputs)))
    ]
    given = [
        {
            "@id": f"#parameter-{name}",
            "@type": "PropertyValue",
            "name": name,
            "value": value if isinstance(value, bool | int | float | str) else json.dumps(value),
        }
        for name, value in parameters.items()
    ]
    rests_on: list[dict[str, Any]] = [
        {
            "@id": f"#{name}",
            "@type": "SoftwareApplication",
            "name": name,
            "softwareVersion": version,
        }
        for name, version in versions.items()
    ]
    program = next(one for one in rests_on if one["name"] == "momab")
    program["softwareRequirements"] = _ids(one for one in rests_on if one is not program)
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": command,
        "instrument": {"@id": program["@id"]},
        "object": _ids([*given, *read]),
        "result": _ids(made),
        "endTime": now,
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": command,
        "description": "Written by momab; the action says how to make it again.",
        "datePublished": now,
        "license": {"@id": "https://creativecommons.org/licenses/by/4.0/"},
        "conformsTo": {"@id": PROFILE},
        "hasPart": _ids(made),
        "mentions": {"@id": action["@id"]},
    }
    about = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": root["@id"]},
    }
    profile = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate"}
    graph = [about, root, profile, action, *rests_on, *given, *read, *made]
    return write_text(
        folder / CRATE, json.dumps({"@context": _CONTEXT, "@graph": graph}, indent=1) + "\n"
    )


def _ids(entities: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"@id": entity["@id"]} for entity in entities]


def _file(name: str, path: Path, kind: str = "File") -> dict[str, Any]:
    return {
        "@id": name,
        "@type": kind,
        "name": path.name,
        "encodingFormat": _KINDS.get(path.suffix, "application/octet-stream"),
        "contentSize": str(path.stat().st_size),
        "sha256": file_digest(path),
    }
