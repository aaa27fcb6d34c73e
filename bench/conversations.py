"""A folder of 10,000 conversations, and what lists it."""

import json
import pathlib
import random
import shutil
import sys

import environment
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


# As many conversations of one exchange each in llm's own database.
_FILL_LLM = """
import sqlite_utils, sys
from llm.migrations import migrate
database, count = sqlite_utils.Database(sys.argv[1]), int(sys.argv[2])
migrate(database)
ids = [f"conv{number:08x}" for number in range(count)]
database["conversations"].insert_all(
    {"id": id, "name": f"Question {id}", "model": "gpt-5-mini"} for id in ids)
database["responses"].insert_all(
    {"id": "r" + id, "model": "gpt-5-mini", "prompt": "word " * 100, "response": "word " * 100,
     "conversation_id": id, "duration_ms": 1, "datetime_utc": "2026-11-22T00:00:00"} for id in ids)
"""


def llm_logs(folder: pathlib.Path, count: int) -> list[str]:
    """The command that lists as many exchanges, a short record each; empty: llm is not there."""
    if environment.prepare_llm():
        return []
    database = folder / f"llm-logs-{count}.db"
    if not database.exists():
        building = database.with_suffix(".new")
        building.unlink(missing_ok=True)
        python = str(pathlib.Path(environment.LLM).with_name("python3"))
        timing.once([python, "-c", _FILL_LLM, str(building), str(count)])
        building.rename(database)
    return [environment.LLM, "logs", "list", "-n", "0", "--short", "-d", str(database)]


def complete(dossier: str, folder: pathlib.Path, env: dict[str, str],
             count: int = COUNT) -> dict[str, list[timing.Run]]:
    """Completion of a conversation's id among as many, beside git."""
    conversations = make(folder, count)
    commands = {"ours": [dossier, "__complete", "--", "chat", "--conversations-path",
                         str(conversations), "--conversation", "conv-0000"],
                "git": ["git", "--version"]}
    return timing.interleaved(commands, 20, dict.fromkeys(commands, env))


def measure(dossier: str, folder: pathlib.Path, env: dict[str, str],
            count: int = COUNT) -> dict[str, list[timing.Run]]:
    """Runs of the first list, of the warm one and of its peers; CPU is what compares."""
    conversations = make(folder, count)
    ours = [dossier, "conversations", "list", "--conversations-path", str(conversations)]
    cache = folder / "state" / "cache"
    env = env | {"XDG_CACHE_HOME": str(cache)}
    shutil.rmtree(cache / "dossier" / "conversations", ignore_errors=True)
    first = timing.once(ours, env)
    commands = {"ours": ours, "stat": [build_stat_all(folder), str(conversations)],
                "parse": [sys.executable, "-S", "-c", _PARSE_ALL, str(conversations)]}
    if llm := llm_logs(folder, count):
        commands["llm"] = llm
    return timing.interleaved(commands, 7, dict.fromkeys(commands, env)) | {"first": [first]}
