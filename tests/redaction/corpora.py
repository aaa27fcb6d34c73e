#!/usr/bin/env python3
"""The detector of secrets on two corpora: ordinary code, where it must change nothing, and planted
secrets, all of which it must find (FLT-40).

usage: corpora.py LIST_SECRETS [--seed N] [--each N] [--show] [--also FOLDER]...

Ordinary code is what this machine has of: Python's standard library, Go's, Node's packages, the
headers of C and C++, and this repository. A part that is missing is named and passed over. Of the
folders of --also the secrets found are listed and not judged: what they hold is not known.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import planted
import planted_more

HERE = pathlib.Path(__file__).resolve()
REPOSITORY = HERE.parents[2]

# Folder, patterns of names.
CODE = {
    "python": ("/usr/lib/python3.11", (".py", ".txt", ".cfg", ".h")),
    "go": (("/usr/local/go/src", "/usr/lib/go/src", "/usr/share/go/src"), ("",)),
    "node": (("/usr/lib/node_modules", "/usr/share/nodejs"), (".js", ".json", ".md", ".cjs", ".mjs", ".ts")),
    "c": ("/usr/include", ("",)),
}

# True hits, looked at by hand: private keys and shared secrets that tests of cryptography use.
KEYS_OF_TESTS = {
    "go": ("crypto/x509/platform_root_key.pem", "crypto/ecdh/ecdh_test.go", "crypto/hpke/testdata/",
           "crypto/tls/handshake_test.go", "crypto/tls/example_test.go", "crypto/tls/testdata/",
           "crypto/tls/key_schedule_test.go"),
    # Scenarios that need a secret whole.
    "repository": ("src/base/text/redact_test.cc", "src/memory/records/redaction_test.cc", "tests/acceptance/assembly/",
                   "src/server/operations_test.cc", "src/sources/pack/pack_test.cc", "tests/acceptance/scripts/mcp_test.py",
                   "tests/acceptance/inspect/secret_in_sample.yaml", "tests/acceptance/memory/"),
}


def files_of(folders, ends):
    for folder in folders if isinstance(folders, tuple) else (folders,):
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and path.name.endswith(ends) and "\n" not in str(path):
                yield str(path)


def repository_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True)
    return [str(REPOSITORY / name) for name in listed.stdout.decode().split("\0") if name]


def search(program, paths):
    """Hits and bytes by path."""
    done = subprocess.run([program], input="\n".join(paths) + "\n", capture_output=True, text=True, check=True)
    hits, searched = collections.defaultdict(list), {}
    for line in done.stdout.splitlines():
        found = json.loads(line)
        if "kind" in found:
            hits[found["path"]].append(found)
        else:
            searched[found["path"]] = found["bytes"]
    return hits, searched


def list_also(program, folder):
    hits, searched = search(program, list(files_of(folder, ("",))))
    for path, found in hits.items():
        for hit in found:
            print(f"{path}:{hit['line']} {hit['kind']}")
    print(f"{folder}: {len(searched)} files, {sum(searched.values()) / 1e6:.1f} MB, "
          f"{sum(map(len, hits.values()))} found")


def check_code(program, show):
    wrong = 0
    corpora = {name: list(files_of(*where)) for name, where in CODE.items()}
    corpora["repository"] = repository_files()
    for name, paths in corpora.items():
        if not paths:
            print(f"{name}: not on this machine")
            continue
        hits, searched = search(program, paths)
        known = false = 0
        for path, found in hits.items():
            if any(part in path for part in KEYS_OF_TESTS.get(name, ())):
                known += len(found)
                continue
            false += len(found)
            for hit in found:
                print(f"{name}: {path}:{hit['line']} {hit['kind']}")
        if show:
            print(f"{name}: {len(searched)} files, {sum(searched.values()) / 1e6:.1f} MB, {known} keys of tests, "
                  f"{false} other")
        wrong += false
    return wrong


def check_planted(program, seed, each, show):
    missed, total = collections.Counter(), collections.Counter()
    true = stray = 0
    with tempfile.TemporaryDirectory() as folder:
        every = [*planted.everything(seed, each), *planted_more.everything(seed, each)]
        paths = []
        for number, one in enumerate(every):
            path = pathlib.Path(folder, str(number))
            path.write_bytes(one.text.encode())
            paths.append(str(path))
        hits, _ = search(program, paths)
    for path, one in zip(paths, every):
        total[one.kind] += 1
        text = one.text.encode()
        begin = text.index(one.secret.encode())
        end = begin + len(one.secret.encode())
        covering = [hit for hit in hits[path] if hit["offset"] <= begin and end <= hit["offset"] + hit["length"]]
        true += len(covering)
        stray += len(hits[path]) - len(covering)
        if not covering:
            missed[one.kind] += 1
            print(f"missed: {one.kind}, syntax {one.syntax}: {one.text!r}"[:300])
    if show:
        found = sum(total.values()) - sum(missed.values())
        print(f"planted: {len(total)} kinds, {sum(total.values())} secrets, {found} found, {stray} stray hits: "
              f"recall {found / sum(total.values()):.4f}, precision {true / max(true + stray, 1):.4f}")
    return sum(missed.values()) + stray


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--also", action="append", default=[], metavar="FOLDER")
    arguments = parser.parse_args()
    for folder in arguments.also:
        list_also(arguments.program, folder)
    wrong = check_code(arguments.program, arguments.show)
    wrong += check_planted(arguments.program, arguments.seed, arguments.each, arguments.show)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
