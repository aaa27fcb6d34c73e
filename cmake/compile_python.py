"""Compiles the worker's Python for the interpreter that runs this.

    compile_python.py OUTPUT SOURCE…

OUTPUT is the interpreter's magic number and a marshalled dict of module names and code objects. The
worker reads it if its libpython has the same magic number, else it compiles the sources itself.
"""

import importlib.util
import marshal
import pathlib
import sys


def main() -> None:
    output, *sources = map(pathlib.Path, sys.argv[1:])
    codes = {path.stem: compile(path.read_text(encoding="utf-8"), f"<dossier:{path.stem}>", "exec",
                                dont_inherit=True)
             for path in sources}
    output.write_bytes(importlib.util.MAGIC_NUMBER + marshal.dumps(codes))


main()
