#!/usr/bin/env python3
"""Writes the example in a header's comment as C++ that a test includes.

usage: extract_example.py HEADER OUTPUT

The example stands between comment lines `// <example>` and `// </example>`.
"""

import sys
from pathlib import Path


def main():
    header, output = map(Path, sys.argv[1:])
    lines = header.read_text(encoding="utf-8").splitlines()
    code = [line.removeprefix("//") for line in lines[lines.index("// <example>") + 1:lines.index("// </example>")]]
    text = "\n".join(line.removeprefix("   ") for line in code)
    include = header.as_posix().split("/src/")[1]
    output.write_text(f'#include "{include}"\n\nnamespace dossier::cli {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n'
                      '}  // namespace dossier::cli\n', encoding="utf-8")


if __name__ == "__main__":
    main()
