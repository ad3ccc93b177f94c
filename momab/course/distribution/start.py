#!/usr/bin/env python3
"""Start JupyterLab with everything that the course needs.

    python3 start.py             install if necessary, then start JupyterLab
    python3 start.py --install   install only

It installs into the folder .venv beside this file and nowhere else.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
WHEEL = "@WHEEL@"


def main() -> None:
    """Install if something has changed, then start."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        sys.exit(f"This needs Python 3.11, 3.12 or 3.13; this one is {sys.version.split()[0]}.")
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = b"".join((HERE / name).read_bytes() for name in ("constraints.txt", WHEEL))
    stamp, mark = VENV / "installed", hashlib.sha256(wanted).hexdigest()
    if not stamp.is_file() or stamp.read_text() != mark:
        install(python)
        stamp.write_text(mark)
    if "--install" in sys.argv[1:]:
        print("Everything is installed; python3 start.py starts JupyterLab.")
        return
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    lab = [str(python), "-m", "jupyter", "lab", "--LabApp.default_url=/lab/tree/handouts"]
    try:
        code = subprocess.call([*lab, *sys.argv[1:]], cwd=HERE, env={**os.environ, "PATH": path})
    except KeyboardInterrupt:
        code = 0
    sys.exit(code)


def install(python: Path) -> None:
    """Make .venv and install the library and what it needs, in the versions of constraints.txt."""
    print("Installing into .venv; the first time this takes a few minutes.", flush=True)
    if not python.is_file():
        venv.create(VENV, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    local = ["--no-index", "--find-links", "wheels"] if (HERE / "wheels").is_dir() else []
    needs = ["-c", "constraints.txt", f"./{WHEEL}[fast,plots,learn]"]
    for step in (needs, ["--no-deps", "--force-reinstall", f"./{WHEEL}"]):
        if subprocess.call([*pip, *local, *step], cwd=HERE):
            sys.exit("The installation failed; the lines above say why.")


if __name__ == "__main__":
    main()
