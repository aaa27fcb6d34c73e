"""What Python's own parser finds in source files, as one JSON object: the second path of code.

usage: python3 -I read_code.py ROOT < NAMES      names relative to ROOT, separated by NUL
"""

import ast
import json
import os
import sys
from collections import Counter, defaultdict


def read(root, names):
    definitions, constants = defaultdict(list), defaultdict(list)
    calls, imports = Counter(), {}
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as source:
            try:
                tree = ast.parse(source.read())
            except (SyntaxError, ValueError):
                continue
        imports[name] = set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                definitions[node.name].append(name)
            elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                calls[node.func.id if isinstance(node.func, ast.Name) else node.func.attr] += 1
            elif isinstance(node, ast.Import):
                imports[name].update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imports[name].add(node.module)
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        constants[target.id].append(str(node.value.value))
    return {"definitions": definitions, "calls": calls, "constants": constants,
            "imports": {name: sorted(modules) for name, modules in imports.items()}}


if __name__ == "__main__":
    json.dump(read(sys.argv[1], [name for name in sys.stdin.read().split("\0") if name]), sys.stdout)
