"""The script `dossier` of the package without the command: runs the command that it finds."""

from __future__ import annotations

import os
import sys


def main() -> int:
    from ._errors import DossierError
    from ._process import find_command
    try:
        command = find_command()
    except DossierError as error:
        print(f"dossier: {error}", file=sys.stderr)
        return error.exit
    os.execv(command[0], [command[0], *sys.argv[1:]])
