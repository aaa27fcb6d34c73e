"""A folder of 10,000 conversations, and what lists it."""

import json
import pathlib
import random
import sys

import timing

COUNT = 10_000

# The least that a list without an index has to do: read and parse every file, sort, print.
_PARSE_ALL = """
import json, os, sys
rows = []
for entry in os.scandir(sys.argv[1]):
    if entry.name.endswith(".json"):
        value = json.loads(open(entry.path, "rb").read())
        rows.append((value["updated_at"], value["id"], value["model"], len(value["messages"])))
rows.sort(reverse=True)
print(*rows, sep="\\n")
"""

# readdir and fstatat of each file, nothing else.
_STAT_ALL = r"""
#include <dirent.h>
#include <sys/stat.h>
int main(int count, char** words) {
  DIR* folder = opendir(words[1]);
  long long sum = 0;
  struct stat info;
  for (struct dirent* entry; count > 1 && folder && (entry = readdir(folder));) {
    if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) sum += info.st_size;
  }
  return sum == 42;
}
"""


def make(folder: pathlib.Path, count: int) -> pathlib.Path:
    """Writes the conversations once; eight messages of some hundred words each."""
    target = folder / f"conversations-{count}"
    if target.exists():
        return target
    building = folder / f"conversations-{count}.new"
    building.mkdir(parents=True, exist_ok=True)
    rng = random.Random(32)
    words = [f"word{n}" for n in range(2000)]
    for number in range(count):
        messages = [{"role": "assistant" if k % 2 else "user",
                     "content": " ".join(rng.choices(words, k=rng.randint(20, 200)))}
                    for k in range(8)]
        time = f"2026-{1 + number % 12:02}-{1 + number % 28:02}T00:00:{number % 60:02}.{number:06}Z"
        value = {"id": f"conv-{number:08x}", "model": "gpt-5-mini", "messages": messages,
                 "created_at": time, "updated_at": time, "metadata": {}}
        (building / f"{value['id']}.json").write_text(json.dumps(value, indent=2), "utf-8")
    building.rename(target)
    return target


def build_stat_all(folder: pathlib.Path) -> str:
    program = folder / "stat_all"
    if not program.exists():
        source = folder / "stat_all.c"
        source.write_text("#define _GNU_SOURCE\n#include <fcntl.h>\n" + _STAT_ALL, "utf-8")
        timing.once(["cc", "-O2", "-o", str(program), str(source)])
    return str(program)


def measure(dossier: str, folder: pathlib.Path, env: dict[str, str],
            count: int = COUNT) -> dict[str, list[timing.Run]]:
    """Runs of the warm list and of its peers; CPU is what compares."""
    conversations = make(folder, count)
    ours = [dossier, "conversations", "list", "--conversations-path", str(conversations)]
    env = env | {"XDG_CACHE_HOME": str(folder / "state" / "cache")}
    timing.once(ours, env)  # makes the index
    commands = {"ours": ours, "stat": [build_stat_all(folder), str(conversations)],
                "parse": [sys.executable, "-S", "-c", _PARSE_ALL, str(conversations)]}
    return timing.interleaved(commands, 7, dict.fromkeys(commands, env))
