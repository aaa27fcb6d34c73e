"""The peers' private Python environment, made on first use."""

import os
import pathlib
import subprocess
import sys

_FOLDER = pathlib.Path(os.path.expanduser("~/.cache/dossier/bench-venv"))
_PACKAGES = ["rlms==0.1.3", "droste==0.26.0"]
_DONE = _FOLDER / "dossier-bench-packages"
PYTHON = str(_FOLDER / "bin/python3")


def prepare() -> str:
    """Installs the peers from PyPI unless they are there. Returns what went wrong, or ""."""
    wanted = "\n".join(_PACKAGES)
    if _DONE.exists() and _DONE.read_text() == wanted:
        return ""
    print(f"installing {', '.join(_PACKAGES)} from PyPI into {_FOLDER}", file=sys.stderr)
    for command in (["/usr/bin/python3", "-m", "venv", str(_FOLDER)],
                    [PYTHON, "-m", "pip", "install", "--quiet",
                     "--disable-pip-version-check", *_PACKAGES]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            return f"the peers could not be installed: {lines[-1]}"
    _DONE.write_text(wanted)
    return ""
