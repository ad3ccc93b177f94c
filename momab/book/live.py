"""The scripts of the explorables: modules of ``book/live`` as classic scripts.

A page that is opened from a folder may not load modules, so they are put together when the book is
built: ``core.js`` has the kit and, as a text for a worker, the engine with its compiled module;
every explorable is a script of its own, with the recorded numbers of ``data`` that it shows.  The
sources keep to one style (named imports from modules beside them, exported functions and
constants), which is all that is understood here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from pathlib import Path

from momab.errors import MomabError

CORE = ("math", "engine", "kit")
"""The modules of ``core.js``, each after those it imports."""
WORKER = ("math", "engine", "worker")
_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[\w-]+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?P<rest>(?:async )?(?:function|const|class) (?P<name>\w+))", re.M)
_COMMENT = re.compile(r"^ *(//.*|/\*\*.*\*/)\n", re.M)
_COMPILER = "ziglang==0.17.0"  # another version makes other bytes
_FLAGS: tuple[str, ...] = (
    *("--target=wasm32-freestanding", "-O2", "-ffp-contract=off", "-nostdlib"),
    *("-Wl,--no-entry", "-Wl,--strip-all"),
)


def compile_arguments(source: Path, target: Path) -> list[str]:
    """How ``engine.wasm`` is made, as arguments for Zig.

    No sum may be fused with a product: that would change digits.
    """
    return ["cc", *_FLAGS, "-o", str(target), str(source)]


def compile_engine(folder: Path) -> None:
    """Compile ``engine.c`` and record of what the module was made; uv fetches the compiler."""
    arguments = compile_arguments(folder / "engine.c", folder / "engine.wasm")
    subprocess.run(["uv", "tool", "run", "--from", _COMPILER, "python-zig", *arguments], check=True)
    record = json.dumps(record_of(folder), indent=2)
    (folder / "engine.json").write_text(record + "\n")


def record_of(folder: Path) -> dict[str, object]:
    """The digests of the engine's source and module, and how one is made of the other."""
    digests = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("engine.c", "engine.wasm")
    }
    return {**digests, "compiler": _COMPILER, "flags": list(_FLAGS)}


def read_compilation(folder: Path) -> dict[str, object]:
    """What the last compilation recorded."""
    record: dict[str, object] = json.loads((folder / "engine.json").read_text())
    return record


def explorables(folder: Path) -> list[str]:
    """The names of all explorables: the scripts of the folder ``explorables``."""
    return sorted(path.stem for path in (folder / "explorables").glob("*.js"))


def classic(source: str, name: str) -> str:
    """A module as a statement that adds its exports to ``momabLive.modules``, without comments."""
    source = _COMMENT.sub("", source)
    names = [match["name"] for match in _EXPORT.finditer(source)]
    body = _EXPORT.sub(lambda match: match["rest"], source)
    body = _IMPORT.sub(
        lambda m: f'const {{{m["names"]}}} = momabLive.modules["{m["module"]}"];\n', body
    )
    if left := re.search(r"^(import [{*\"]|export ).*", body, re.M):
        raise MomabError(f"book/live/{name}.js: this form is not understood: {left[0]!r}.")
    return (
        f'momabLive.modules["{name}"] = (() => {{\n{body}\nreturn {{{", ".join(names)}}};\n}})();\n'
    )


def _modules(folder: Path, names: tuple[str, ...]) -> str:
    return "".join(classic((folder / f"{name}.js").read_text(), name) for name in names)


def core_script(folder: Path) -> str:
    """The kit and the engine, which every explorable needs."""
    start = "globalThis.momabLive ??= {modules: {}};\n"
    module = base64.b64encode((folder / "engine.wasm").read_bytes()).decode()
    listen = (
        f'const bytes = Uint8Array.from(atob("{module}"), (c) => c.charCodeAt(0));\n'
        'const {answer} = momabLive.modules["worker"];\n'
        "onmessage = ({data}) => answer(bytes, data.jobs, postMessage)\n"
        "  .catch((error) => postMessage({failed: error.message}));\n"
    )
    worker = json.dumps(start + _modules(folder, WORKER) + listen)
    make = (
        f"momabLive.worker = () => new Worker(URL.createObjectURL(\n"
        f'  new Blob([{worker}], {{type: "text/javascript"}})));\n'
    )
    return '"use strict";\n' + start + _modules(folder, CORE) + make


def explorable_script(folder: Path, name: str) -> str:
    """One explorable; it needs ``core.js`` before it.  Its data become ``momabLive.data``."""
    source = (folder / "explorables" / f"{name}.js").read_text().replace('"../', '"./')
    recorded = folder / "data" / f"{name}.json"
    data = ""
    if recorded.exists():
        data = f'(momabLive.data ??= {{}})["{name}"] = {recorded.read_text().strip()};\n'
    return '"use strict";\n' + data + classic(source, name)


def write_scripts(folder: Path, target: Path) -> None:
    """Write ``core.js``, all explorables and their style to a folder of the site."""
    target.mkdir(parents=True, exist_ok=True)
    (target / "core.js").write_text(core_script(folder))
    (target / "live.css").write_text((folder / "live.css").read_text())
    for name in explorables(folder):
        (target / f"{name}.js").write_text(explorable_script(folder, name))
