"""What is measured against what, and the table of it. One function a group of figures."""

import dataclasses
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable

import agent_runs
import chatting
import conversations
import environment
import inputs
import memory_inputs
import memory_novel
import packing
import repository
import timing
from recording_server import RecordingServer
from engines import table
from figure import Figure, kilobytes, megabytes, seconds
from timing import Failed

_CSV_READ = ("import csv, sys\n"
             "with open(sys.argv[1], newline='', encoding='utf-8') as file:\n"
             "    for row in csv.reader(file): pass\n")
_PYTHON = "/usr/bin/python3"
# Uses nothing but `doc`: the context is never made a string.
_DOC_REPLY = "```repl\nfirst = doc[0:200].split()[0]\nFINAL(first)\n```"
_CONTEXT_REPLY = "```repl\nFINAL(context.split()[0])\n```"
_BATCH_IDEAL = math.ceil(1000 / 64) * 0.05  # seconds


@dataclasses.dataclass
class Setting:
    dossier: str
    folder: pathlib.Path
    scale: float  # of the sizes of files
    groups: tuple[str, ...] = ()  # of the table of engines; none: all

    @property
    def bench_program(self) -> str:
        return str(pathlib.Path(self.dossier).with_name("dossier_bench"))

    def size(self, size: int) -> int:
        return int(size * self.scale)

    def environment(self) -> dict[str, str]:
        """Of commands: state folders of their own, no keys."""
        kept = {name: value for name, value in os.environ.items()
                if not name.endswith("_API_KEY") and not name.startswith("DOSSIER_")}
        home = self.folder / "state"
        return kept | {"XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"),
                       "XDG_STATE_HOME": str(home / "state"), "BENCH_KEY": "none"}

    def forget(self) -> None:
        """Removes journals and stored contexts of earlier commands."""
        shutil.rmtree(self.folder / "state", ignore_errors=True)


def _at_most(what: str, ours: float, peer_name: str, peer: float, goal: float,
             unit: Callable[[float], str]) -> Figure:
    ratio = ours / peer
    return Figure(what, unit(ours), f"{peer_name} {unit(peer)}", ratio, f"<= {goal:.3g} x",
                  ratio <= goal)


def _faster(what: str, ours: float, peer_name: str, peer: float, goal: float,
            unit: Callable[[float], str]) -> Figure:
    ratio = peer / ours
    return Figure(what, unit(ours), f"{peer_name} {unit(peer)}", ratio, f">= {goal:g} x faster",
                  ratio >= goal)


def inspect_text(setting: Setting) -> list[Figure]:
    text = inputs.mixed_text(setting.folder, setting.size(1_000_000_000))
    part = inputs.mixed_text(setting.folder, setting.size(100_000_000))
    timing.warm(text)
    utf8 = os.environ | {"LC_ALL": "C.UTF-8"}
    runs = timing.interleaved(
        {"inspect": [setting.dossier, "inspect", "--json", "--threads", "2", str(text)],
         "alone": [setting.dossier, "inspect", "--json", "--threads", "1", str(text)],
         "lines": ["wc", "-l", str(text)]}, 7, {"lines": utf8})
    timing.warm(part)
    chars = timing.interleaved({"chars": ["wc", "-lm", str(part)]}, 3, {"chars": utf8})["chars"]
    ours, lines = timing.median_wall(runs["inspect"]), timing.median_wall(runs["lines"])
    factor = text.stat().st_size / part.stat().st_size
    size = f"{text.stat().st_size / 1e9:.2g} GB"
    cpu = timing.median_cpu(runs["inspect"])
    return [
        _at_most(f"inspect {size} mixed UTF-8, 2 threads, warm (CPU {seconds(cpu)})", ours,
                 "wc -l", lines, 1.3, seconds),
        _faster(f"the same; wc -lm on a tenth, its time x {factor:.3g}", ours, "wc -lm",
                timing.median_wall(chars) * factor, 40, seconds),
        _faster("the same, 2 threads", ours, "1 thread", timing.median_wall(runs["alone"]), 1.6,
                seconds)]


def inspect_ndjson(setting: Setting) -> list[Figure]:
    path = inputs.ndjson(setting.folder, setting.size(100_000_000))
    timing.warm(path)
    runs = timing.interleaved(
        {"ours": [setting.dossier, "inspect", "--json", "--threads", "1", str(path)],
         "jq": ["jq", "-c", "empty", str(path)]}, 5)
    return [_faster(f"inspect {path.stat().st_size / 1e6:.0f} MB NDJSON, 1 thread",
                    timing.median_wall(runs["ours"]), "jq -c empty",
                    timing.median_wall(runs["jq"]), 5, seconds)]


def inspect_csv(setting: Setting) -> list[Figure]:
    path = inputs.csv_table(setting.folder, setting.size(100_000_000))
    timing.warm(path)
    runs = timing.interleaved(
        {"ours": [setting.dossier, "inspect", "--json", "--threads", "1", str(path)],
         "two": [setting.dossier, "inspect", "--json", "--threads", "2", str(path)],
         "csv": [_PYTHON, "-I", "-S", "-c", _CSV_READ, str(path)]}, 5)
    one = timing.median_wall(runs["ours"])
    return [_faster(f"inspect {path.stat().st_size / 1e6:.0f} MB CSV, quoted line ends, 1 thread",
                    one, "Python csv.reader", timing.median_wall(runs["csv"]), 8, seconds),
            _faster("the same, 2 threads", timing.median_wall(runs["two"]), "1 thread", one, 1.6,
                    seconds)]


def _ask(setting: Setting, path: pathlib.Path, *flags: str) -> list[str]:
    return [setting.dossier, "ask", "--quiet", "--mode", "recursive", "--profile", "large", *flags,
            "-c", str(path), "Which word comes first?"]


def large_context(setting: Setting) -> list[Figure]:
    text = inputs.mixed_text(setting.folder, setting.size(1_000_000_000))
    timing.warm(text)
    inspect = [setting.dossier, "inspect", "--json", str(text)]
    env = setting.environment()
    waits, inspects = [], []
    with RecordingServer(_DOC_REPLY) as server:
        ask = _ask(setting, text, "-m", "instant", "--base-url", server.url, "--key-env",
                   "BENCH_KEY")
        for _ in range(5):
            setting.forget()  # the copy of the context is made anew each time
            server.arrivals.clear()
            run = timing.once(ask, env)
            waits.append(server.arrivals[0] - run.start)
            inspects.append(timing.once(inspect).wall)
        setting.forget()
        own, whole = timing.peak_memory(ask, env)
    setting.forget()
    size = f"{text.stat().st_size / 1e9:.2g} GB context"
    memory = Figure(f"{size}, code uses `doc` only: peak memory of all processes",
                    megabytes(own), f"goal 150 MB ({megabytes(whole)} with mapped files)",
                    own / 150e6, "< 150 MB", own < 150e6)
    return [_at_most(f"{size}: command start to first request",
                     sorted(waits)[len(waits) // 2], "dossier inspect",
                     sorted(inspects)[len(inspects) // 2], 1.5, seconds), memory]


def _bench_program(setting: Setting, *arguments: str) -> dict[str, float]:
    """Medians in seconds by name."""
    done = subprocess.run([setting.bench_program, *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    lines = map(json.loads, done.stdout.splitlines())
    return {line["name"]: line["median"] for line in lines}


def sandbox(setting: Setting) -> list[Figure]:
    found = _bench_program(setting, "sandbox")
    ping = found["socketpair.round_trip"]
    rate = ", all on one core ({:,.0f} a second)"
    return [
        _at_most("fork to first cell done, isolated", found["cell.first"],
                 "python3 -I -S -c pass", found["python.start"], 0.5, seconds),
        _guarded("fork to first cell done, isolated", lambda: _at_most(
            "fork to first cell done, isolated", found["cell.first"], "node -e 0", timing.median_wall(
                timing.interleaved({"node": ["node", "-e", "0"]}, 11)["node"]), 0.5, seconds)),
        _at_most("cell round trip" + rate.format(1 / found["cell.round_trip"]),
                 found["cell.round_trip"], "socketpair", ping, 4, seconds),
        _at_most("bridge round trip" + rate.format(1 / found["bridge.round_trip"]),
                 found["bridge.round_trip"], "socketpair", ping, 4, seconds)]


def jail(setting: Setting) -> list[Figure]:
    found = _bench_program(setting, "jail")
    rows = [_at_most("/bin/true in the jail", found["jail.true"], "posix_spawn",
                     found["jail.spawn"], 10, seconds),
            _at_most("/bin/true in the jail, no namespaces", found["jail.true_without_namespaces"],
                     "posix_spawn", found["jail.spawn"], 5, seconds)]
    if "jail.bwrap" in found:
        rows.append(_at_most("/bin/true in the jail", found["jail.true"], "bwrap --unshare-all",
                             found["jail.bwrap"], 1, seconds))
    return rows


def _peer(python: str, name: str, count: int) -> float:
    script = str(pathlib.Path(__file__).with_name("peers.py"))
    done = subprocess.run([python, script, name, str(count)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{name}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    return json.loads(done.stdout)["median"]


def _whole_command(setting: Setting) -> float:
    script = setting.folder / "instant.json"
    script.write_text(json.dumps([{"times": "always", "reply": _CONTEXT_REPLY}]))
    text = setting.folder / "small.txt"
    text.write_text("".join(f"line {i} of a text without much in it\n" for i in range(2000)))
    ask = _ask(setting, text, "-m", "scripted", "--script", str(script))
    runs = timing.interleaved({"ask": ask}, 11, {"ask": setting.environment()})["ask"]
    return timing.median_wall(runs[1:])


def _guarded(what: str, work: Callable[[], Figure]) -> Figure:
    try:
        return work()
    except Failed as error:
        return Figure(what, problem=str(error))


def engine(setting: Setting) -> list[Figure]:
    setting.forget()
    ours = _bench_program(setting, "engine", str(setting.folder / "state/bench"), "completions")
    own = ours["engine.completion"]
    command = _whole_command(setting)
    loaded = f"with its context read each time {seconds(ours['engine.completion_with_load'])}"
    what = "engine, one completion, isolated, journal on"
    problem = environment.prepare()
    if problem:
        return [Figure(f"{what} ({seconds(own)}; {loaded})", problem=problem)]
    try:
        droste = _peer(environment.PYTHON, "droste", 20)
    except Failed as error:
        droste, why = 0.0, str(error)
    rows = [_guarded(what, lambda: _at_most(f"{what} ({loaded})", own, "rlms in process",
                                            _peer(environment.PYTHON, "rlms", 5), 1 / 50,
                                            seconds))]
    if not droste:
        return [*rows, Figure(what, problem=why), Figure("whole command `dossier ask`", problem=why)]
    return [*rows, _at_most("the same", own, "droste in process", droste, 1 / 3, seconds),
            _at_most("whole command `dossier ask -m scripted`", command, "droste in process",
                     droste, 3, seconds)]


def batch(setting: Setting) -> list[Figure]:
    found = _bench_program(setting, "engine", str(setting.folder / "state/bench"), "batch")
    setting.forget()
    return [_at_most("1,000 batched sub-calls of 50 ms, 64 in flight", found["engine.batch"],
                     "ideal", _BATCH_IDEAL, 1.15, seconds)]


def children(setting: Setting) -> list[Figure]:
    """Each with a sandbox of its own and one cell; 64 requests in flight."""
    found = _bench_program(setting, "engine", str(setting.folder / "state/bench"), "children")
    setting.forget()
    rows = [_at_most(f"{count:,} children with replies of 50 ms, 64 in flight",
                     found[f"engine.children_{count}_50"], "ideal", math.ceil(count / 64) * 0.05,
                     1.3, seconds) for count in (1, 16, 100, 1000)]
    problem = environment.prepare()
    for count in (1, 16, 100):
        own, what = found[f"engine.children_{count}_0"], f"{count} children, model without delay"
        if problem:
            rows.append(Figure(f"{what} ({seconds(own)})", problem=problem))
            continue
        rows.append(_guarded(what, lambda own=own, what=what, count=count: _at_most(
            what, own, "rlms, as many completions",
            count * _peer(environment.PYTHON, "rlms", 5), 1 / 100, seconds)))
    return rows


def _token_peer(*command: str) -> dict[str, float]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed((done.stderr.strip().splitlines() or ["no output"])[-1])
    return {line["name"]: line["median"] for line in map(json.loads, done.stdout.splitlines())}


def _token_peers(text: str) -> list[tuple[str, float, dict[str, float] | str]]:
    """(name, how many times faster we must be, CPU seconds by encoding or what went wrong)."""
    here = pathlib.Path(__file__).resolve().parent
    peers: list[tuple[str, float, dict[str, float] | str]] = []
    problem = environment.prepare()
    modules, npm_problem = environment.prepare_npm()
    for name, goal, trouble, command in (
            ("tiktoken", 3, problem, (environment.PYTHON, str(here / "token_peers.py"), text,
                                      str(here.parent / ".cache/ranks"))),
            ("gpt-tokenizer", 5, npm_problem, ("node", str(here / "token_peers.mjs"), text,
                                               modules))):
        try:
            peers.append((name, goal, trouble or _token_peer(*command)))
        except (Failed, OSError) as error:
            peers.append((name, goal, str(error)))
    return peers


def tokens(setting: Setting) -> list[Figure]:
    text = str(inputs.code_and_prose(setting.folder, setting.size(6_000_000)))
    ours = _bench_program(setting, "tokens", text)
    peers = _token_peers(text)
    rows = []
    for name in ("cl100k_base", "o200k_base"):
        mine = {key.rpartition(".")[2]: value for key, value in ours.items() if name in key}
        for peer, goal, times in peers:
            what = f"count code and prose, {name}, CPU"
            rows.append(Figure(what, problem=times) if isinstance(times, str) else
                        _faster(what, mine["mixed"], peer, times[name], goal, seconds))
        a_byte = mine["mixed"] / pathlib.Path(text).stat().st_size
        for kind in ("a", "space", "han", "base64"):
            rows.append(_at_most(f"a million bytes of {kind}, {name}, per byte", mine[kind] / 1e6,
                                 "code and prose", a_byte, 3, _nanoseconds))
        if "append" in mine:
            rows.append(_faster(f"100 bytes appended to 1 MB, {name}", mine["append"],
                                "a full count", mine["first_mb"], 1000, _nanoseconds))
    return rows


def _nanoseconds(seconds: float) -> str:
    return f"{seconds * 1e9:,.1f} ns"


def _empty_program(folder: pathlib.Path) -> str:
    """A dynamic C++ program that does nothing: what any start costs."""
    program = folder / "empty-program"
    if not program.exists():
        subprocess.run(["g++", "-O2", "-x", "c++", "-", "-o", str(program)], check=True, text=True,
                       input="#include <iostream>\nint main() { std::cout.flush(); }\n")
    return str(program)


def _http_peer(setting: Setting, name: str) -> float:
    """CPU seconds of a request by a client of Python, to the same server."""
    server = subprocess.Popen([setting.bench_program, "instant-server"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1/chat/completions"
        script = str(pathlib.Path(__file__).with_name("model_peers.py"))
        return _token_peer(environment.PYTHON, script, name, url)[f"peer.{name}"]
    finally:
        server.communicate("")


def model(setting: Setting) -> list[Figure]:
    found = _bench_program(setting, "model")
    own = found["model.gate_cpu"]
    what = "10,000 requests, 64 in flight, CPU of one"
    held = found["model.held_bytes"]
    rows = [
        _at_most(f"{what} ({1 / found['model.gate_wall']:,.0f} a second; libcurl "
                 f"{1 / found['model.curl_wall']:,.0f})", own, "bare libcurl multi loop",
                 found["model.curl_cpu"], 1 / 0.8, seconds),
        Figure("10,000 requests in flight, memory of one", f"{held / 1e3:.1f} KB", "goal 40 KB",
               held / 40e3, "< 40 KB", held < 40e3)]
    problem = environment.prepare()
    for name in ("httpx", "aiohttp"):
        if problem:
            rows.append(Figure(f"{what}, beside {name}", problem=problem))
            continue
        rows.append(_guarded(what, lambda: _faster(what, own, name, _http_peer(setting, name), 1,
                                                   seconds)))
    return rows


def start(setting: Setting) -> list[Figure]:
    empty = _empty_program(setting.folder)
    runs = timing.interleaved({"--version": [setting.dossier, "--version"],
                               "--help": [setting.dossier, "--help"],
                               "completion bash": [setting.dossier, "completion", "bash"],
                               "__complete": [setting.dossier, "__complete", "--", "config", "get", ""],
                               "empty": [empty], "git": ["git", "--version"],
                               "python": [_PYTHON, "-S", "-c", "pass"]}, 20)
    least = {name: timing.least_cpu(some) for name, some in runs.items()}
    rows = [_at_most(f"dossier {flag}, CPU, least of 20", least[flag], "python3 -S -c pass",
                     least["python"], 1 / 3, seconds) for flag in ("--version", "--help")]
    rows += [_at_most(f"dossier {flag}, CPU, least of 20", least[flag], "an empty C++ program",
                      least["empty"], 4, seconds)
             for flag in ("--version", "--help", "completion bash")]
    rows.append(_at_most("dossier __complete, keys, CPU, least of 20", least["__complete"],
                         "git --version", least["git"], 3, seconds))
    # The only one of the peers' engines that has a command of its own.
    droste = str(table.eval_peers_home() / "droste/bin/droste")
    rows.append(_guarded("dossier --version, CPU, least of 20", lambda: _at_most(
        "dossier --version, CPU, least of 20", least["--version"], "droste --version",
        timing.least_cpu(timing.interleaved({"droste": [droste, "--version"]}, 5)["droste"]), 1 / 10, seconds)))
    return rows


def pack(setting: Setting) -> list[Figure]:
    problem = environment.prepare() or environment.prepare_repomix()
    if problem:
        return [Figure("pack", problem=problem)]
    if not packing.counts_exactly(setting.dossier, setting.environment()):
        return [Figure("pack", problem="o200k_base.vocab is missing: counts would be estimates; "
                                       "`make build` makes it where scripts/setup can fetch its source")]
    runs = packing.measure(setting.dossier, setting.folder, setting.environment())
    files, size = packing.size_of(packing.tree(setting.folder))
    what = f"pack {size / 1e6:.1f} MB in {files} files, exactly counted, CPU"
    cpu = {name: timing.median_cpu(some) for name, some in runs.items()}
    peak = {name: max(run.peak for run in some) for name, some in runs.items()}
    rows = [
        _at_most(f"{what}, no kept counts", cpu["cold"], "repomix", cpu["repomix"], 1 / 10, seconds),
        _at_most(f"{what}, counts kept", cpu["warm"], "repomix", cpu["repomix"], 1 / 10, seconds),
        _at_most(f"{what}, no kept counts", cpu["cold"], "files-to-prompt (counts nothing)",
                 cpu["files-to-prompt"], 1, seconds),
        _at_most(f"{what}, counts kept", cpu["warm"], "files-to-prompt (counts nothing)",
                 cpu["files-to-prompt"], 1, seconds),
        _at_most("the same, most memory", peak["cold"], "60 MiB", 60 * 2 ** 20, 1, megabytes),
        _at_most("the same, most memory", peak["cold"], "repomix", peak["repomix"], 1 / 5,
                 megabytes)]
    rows += _pack_for_a_task(setting)
    goals = {"a line in one of the 50 newest files": 0.9, "one new file": 0.9}
    shares = packing.prefixes(setting.dossier, setting.folder, setting.environment())
    for case, share in shares.items():
        goal = goals.get(case, 1.0)
        rows.append(Figure(f"bytes of the prefix kept: {case}", f"{share['ours']:.1%}",
                           f"repomix {share['repomix']:.1%}", share["ours"], f">= {goal:.0%}",
                           share["ours"] >= goal))
    return rows


def _pack_for_a_task(setting: Setting) -> list[Figure]:
    budget = 20_000
    what = f"what matters for a task, in {budget:,} tokens"
    runs, tokens = packing.for_a_task(setting.dossier, setting.folder, setting.environment(), budget)
    cpu = {name: timing.median_cpu(some) for name, some in runs.items()}
    return [_at_most(f"{what}, CPU", cpu["ours"], "redcon", cpu["redcon"], 1, seconds),
            Figure(f"{what}: o200k tokens of the result", f"{tokens['ours']:,}",
                   f"redcon {tokens['redcon']:,}", tokens["ours"] / budget, "<= 1 of the budget",
                   tokens["ours"] <= budget)]


def assemble(setting: Setting) -> list[Figure]:
    text = str(inputs.code_and_prose(setting.folder, 6_000_000))
    found = _bench_program(setting, "assembly", text)
    many = "assemble 1,000 sections, 1 MB, into 100,000 tokens"
    cpu, peak = found["assembly.many"], found["assembly.peak"]
    rows = [Figure(f"{many}, CPU", seconds(cpu), "goal 30 ms", cpu / 0.03, "< 30 ms", cpu < 0.03),
            Figure("the same, memory beside the sections", megabytes(peak), "goal 16 MB",
                   peak / 16e6, "< 16 MB", peak < 16e6),
            _at_most("assemble 40 sections, 200,000 tokens, no counts kept, CPU",
                     found["assembly.forty"], "copy and hash of the bytes",
                     found["assembly.copy_and_hash"], 2, seconds),
            _at_most("the same", found["assembly.forty"], "one count of the text",
                     found["assembly.count_once"], 1.5, seconds)]
    problem = environment.prepare()
    if problem:
        return [*rows, Figure(many, problem=problem)]
    here = pathlib.Path(__file__).resolve().parent
    peer = _token_peer(environment.PYTHON, str(here / "assembly_peers.py"), text,
                       str(here.parent / ".cache/ranks"))
    return [*rows, _faster(f"{many}, CPU", cpu, "vincio (counts by tiktoken)", peer["vincio"], 20,
                           seconds)]


def commands(setting: Setting) -> list[Figure]:
    got = _bench_program(setting, "commands")
    one = got["commands.sleep_1"]
    return [
        _at_most("10 context commands that sleep 0.5 s", got["commands.sleep_10"], "one", one, 1.5,
                 seconds),
        _at_most("50 of them, 16 at once", got["commands.sleep_50"], "one", one, 4.6, seconds),
        _at_most("memory for 8 x 50 MB of output", got["commands.memory"], "caps + 16 MiB",
                 8 * 65536 + 2 ** 24, 1, megabytes),
        _at_most("50 context commands `:`, CPU", got["commands.start_cpu"],
                 "50 x posix_spawn of sh -c :", got["spawn.start_cpu"], 2, seconds)]


def agents(setting: Setting) -> list[Figure]:
    env = setting.environment()

    def whole(root: pathlib.Path, *flags: str) -> timing.Run:
        return agent_runs.run(setting.dossier, root, env, *flags)

    folder = setting.folder / "agents"
    shutil.rmtree(folder, ignore_errors=True)
    measured = {"alone": agent_runs.git_alone, "ours": whole, "by-hand": agent_runs.git_by_hand}
    found: dict[str, list] = {name: [] for name in measured}
    for number in range(5):
        for name, measure in measured.items():
            place = folder / f"{name}-{number}"
            found[name].append(measure(agent_runs.repository(place, 1, agent_runs.CHANGE)))
    alone, ours, by_hand = found.values()
    sleepy = agent_runs.repository(folder / "sleepy", 16, "sleep 1; echo x > src/$1.txt", files=50,
                                   reviewer="sleep 1; ")
    sixteen = whole(sleepy, "--workers", "8").wall
    loud = agent_runs.repository(folder / "loud", 1, "head -c 300000000 /dev/zero; echo x > src/x",
                                 files=50)
    one_task = "agents run, one task of 300 changes in 2,000 files, engines that only do it"
    git_does = "two git worktree add + add -A + diff"
    all_of_git = "these, commit, checkout, merge, both removed"
    return [
        _at_most(one_task, statistics.median(run.wall for run in ours), git_does,
                 statistics.median(wall for wall, _ in alone), 1.5, seconds),
        _at_most(f"the same, CPU, least of {len(ours)}", min(run.cpu for run in ours), git_does,
                 min(cpu for _, cpu in alone), 1.5, seconds),
        _at_most("the same, wall", statistics.median(run.wall for run in ours), all_of_git,
                 statistics.median(wall for wall, _ in by_hand), 1.5, seconds),
        _at_most(f"the same, CPU, least of {len(ours)}", min(run.cpu for run in ours), all_of_git,
                 min(cpu for _, cpu in by_hand), 1.5, seconds),
        _at_most("agents run, 16 tasks, engines that sleep 1 s, 8 workers", sixteen, "4 s", 4, 1.3,
                 seconds),
        _at_most("memory of agents run, an engine that prints 300 MB", whole(loud).peak,
                 "40 MB + 2 MB a worker", 42e6, 1, megabytes)]


def memory_store(setting: Setting) -> list[Figure]:
    got = {name.removeprefix("memory."): time
           for name, time in _bench_program(setting, "memory-store").items()}
    return [_at_most("memory load of 100,000 texts, CPU", got["load"], "bare FTS5, one transaction",
                     got["fts5_load"], 4, seconds),
            _at_most("8 processes that write 250 texts each, one by one, wall", got["single"],
                     "bare FTS5", got["fts5_single"], 2, seconds),
            _at_most("a fork under 100,000 events, CPU", got["fork_full"], "under none",
                     got["fork_empty"], 2, seconds)]


def conversation_list(setting: Setting) -> list[Figure]:
    runs = conversations.measure(setting.dossier, setting.folder, setting.environment())
    cpu = {name: timing.least_cpu(some) for name, some in runs.items()}
    what = f"conversations list, {conversations.COUNT:,} files, warm index, CPU, least of 7"
    rows = [_at_most(what, cpu["ours"], "readdir + fstatat in C", cpu["stat"], 3, seconds),
            _at_most(what, cpu["ours"], "python3 parsing all", cpu["parse"], 1 / 10, seconds)]
    # Quadratic work shows here: an index entry took a walk over all others once.
    rows.append(_at_most(f"its first run, which indexes {conversations.COUNT:,} files, CPU",
                         cpu["first"], "python3 parsing all", cpu["parse"], 20, seconds))
    if "llm" in cpu:
        rows.append(_faster("the warm one", cpu["ours"], "llm logs list -n 0 --short", cpu["llm"], 20,
                            seconds))
    else:
        rows.append(Figure("conversations list beside llm", problem="llm could not be installed"))
    offers = {name: timing.least_cpu(some) for name, some in conversations.complete(
        setting.dossier, setting.folder, setting.environment()).items()}
    rows.append(_at_most(f"__complete of an id among {conversations.COUNT:,}, CPU, least of 20",
                         offers["ours"], "git --version", offers["git"], 3, seconds))
    return [*rows, *_long_conversation(setting)]


def _long_conversation(setting: Setting) -> list[Figure]:
    got = _bench_program(setting, "conversation", str(setting.folder / "conversation-50-mb"))
    what = "a turn added to a conversation of 50 MB"
    return [_at_most(f"{what}, CPU", got["conversation.append_cpu"], "copy + fsync",
                     got["conversation.copy_cpu"], 3, seconds),
            _at_most(f"{what}, wall", got["conversation.append_wall"], "copy + fsync",
                     got["conversation.copy_wall"], 3, seconds),
            _at_most("the same, memory added, with the one that was read", got["conversation.memory"],
                     "the file", 50e6, 3, megabytes)]


def chat(setting: Setting) -> list[Figure]:
    env = setting.environment()
    runs = chatting.one_turn(setting.dossier, setting.folder, env)
    cpu = {name: timing.least_cpu(some) for name, some in runs.items()}
    rows = [_at_most("chat, a stateless turn, CPU, least of 7", cpu["stateless"], "curl",
                     cpu["curl"], 1.5, seconds),
            _at_most("chat, a turn of a conversation, CPU, least of 7", cpu["turn"], "curl",
                     cpu["curl"], 1.5, seconds)]
    if "llm" in cpu:
        rows.append(_faster("the same", cpu["turn"], "llm", cpu["llm"], 20, seconds))
    else:
        rows.append(Figure("chat beside llm", problem="llm could not be installed"))
    first = {name: timing.least_cpu(some) for name, some in
             chatting.until_sent(setting.dossier, setting.folder, env).items()}
    rows += [_at_most(f"chat, {what}, until its request's first byte, CPU, least of 21", first[name],
                      "curl", first["curl"], 1.5, seconds)
             for name, what in (("stateless", "a stateless turn"),
                                ("turn", "the third turn of a conversation"))]
    sent, copy = chatting.sent_copies(setting.dossier, setting.folder, env)
    turns = chatting.TURNS
    share = sent / (copy * turns)
    rows.append(Figure(f"context sent in {turns} turns", f"{sent:,} bytes",
                       f"{turns} copies; {turns * (turns + 1) // 2} without freezing", share,
                       "1 +- 1 %", abs(share - 1) <= 0.01))
    return rows


def repository_header(setting: Setting) -> list[Figure]:
    path = repository.make(setting.folder, setting.scale)
    env = setting.environment()
    own = _bench_program(setting, "repository", str(path))
    whole = repository.whole_command(setting.dossier, path, env)
    starts = own["repository.git_starts"]
    notes, edn, emit = (own[f"repository.{name}"] for name in ("notes", "edn", "emit"))
    large = repository.large_repository(setting.dossier, path, env)
    git = large["status"] + large["log"]
    rows = [
        _at_most("header of 50,000 files and 20,000 commits, CPU, least of 7", large["plain"],
                 "git status and git log -1", git, 1.5, seconds),
        _at_most("the same --with dirty,upstream,commits", large["full"],
                 "git status and git log -1", git, 1.5, seconds),
        _at_most("the next header of a run there, CPU, in process", own["repository.next_header"],
                 "git status and git log -1", git, 0.1, seconds),
        _at_most("header, 100 notes, whole process, CPU, least of 15", whole["ours"],
                 "git rev-parse --short HEAD", whole["git"], 3, seconds),
        Figure("git processes of 100 headers, HEAD unmoved", f"{starts:.0f}", "goal 3", starts / 3,
               "<= 3", starts <= 3),
        _at_most("scan and parse 10,000 notes, CPU", notes, "head -c 4096 of each",
                 repository.head_of_each(path, env), 1.5, seconds),
        _at_most("EDN, 10,000 tasks, CPU", edn, "json.loads of the same",
                 repository.json_loads(path), 2, seconds),
        _at_most("write a header, CPU", emit, "yaml-cpp", own["repository.emit_yaml_cpp"], 1 / 3,
                 seconds)]
    modules, problem = environment.prepare_repository()
    if problem:
        return [*rows, Figure("beside npm's readers", problem=problem)]
    here = pathlib.Path(__file__).resolve().parent
    peer = _token_peer("node", str(here / "repository_peers.mjs"), str(path), modules)
    return [*rows,
            _faster("scan and parse 10,000 notes, CPU", notes, "gray-matter", peer["gray-matter"], 5,
                    seconds),
            _faster("EDN, 10,000 tasks, CPU", edn, "edn-data", peer["edn-data"], 10, seconds),
            _faster("write a header, CPU", emit, "npm yaml", peer["yaml"], 10, seconds)]


def _memory_folder(setting: Setting, name: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """Texts, queries and a store of them."""
    folder = setting.folder / f"memory-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    _bench_program(setting, "memory", str(folder))  # the first run in a folder loads
    return folder


def _memory_peer(name: str, folder: pathlib.Path, python: str = _PYTHON) -> dict[str, float]:
    script = str(pathlib.Path(__file__).with_name("memory_peers.py"))
    done = subprocess.run([python, "-B", script, name, str(folder)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed((done.stderr.strip().splitlines() or ["no output"])[-1])
    return json.loads(done.stdout)


def _recall(folder: pathlib.Path, name: str, places: int) -> float:
    """The share of questions whose evidence is among the first `places` hits."""
    queries = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    hits = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    found = sum(json.loads(query)["evidence"] in json.loads(refs)[:places]
                for query, refs in zip(queries, hits, strict=True))
    return found / len(queries)


def _at_least(what: str, ours: float, peer_name: str, peer: float, goal: float) -> Figure:
    ratio = ours / max(peer, 1e-9)
    return Figure(what, f"{ours:.3f}", f"{peer_name} {peer:.3f}", ratio, f">= {goal:g} x",
                  ratio >= goal)


def memory_search(setting: Setting) -> list[Figure]:
    count = setting.size(100_000)
    speed = _memory_folder(setting, "speed",
                           lambda folder: memory_inputs.texts(folder, 7, count, queries=500))
    ours = _bench_program(setting, "memory", str(speed))
    fts5 = _memory_peer("fts5", speed)
    what = f"search of {count:,} texts, both lists, CPU"
    rows = [_faster(what, ours["memory.search"], "FTS5 by bm25()", fts5["median"], 5, seconds)]

    def beside(peer: str, goal: float) -> Figure:
        if problem := environment.prepare():
            raise Failed(problem)
        theirs = _memory_peer(peer, speed, environment.PYTHON)
        return _at_most(what, ours["memory.search"], peer, theirs["median"], goal, seconds)

    rows += [_guarded(what, lambda: beside("tantivy", 6)), _guarded(what, lambda: beside("bm25s", 1)),
             _at_most("memory for one search", ours["memory.peak"], "FTS5's index", fts5["size"], 1,
                      megabytes)]
    rows += [_at_most("a view of 10,000 rows rendered into 24,000 characters, CPU",
                      _bench_program(setting, "render")["memory.render"], "goal", 0.02, 1, seconds)]
    for name, what, make in _MEMORY_QUESTIONS:
        rows += _memory_recall(setting, name, what, make)
    return [*rows, _guarded(_EVIDENCE_OF_ALL, lambda: _recall_of_all(setting))]


_EVIDENCE_OF_ALL = "dialogues and a novel, mean of both: evidence among the first 10"


_MEMORY_QUESTIONS = (
    ("talk", "dialogues", lambda folder: memory_inputs.dialogues(folder, seed=7)),
    ("novel", "a novel", memory_novel.paragraphs_and_questions))


def _recall_of_all(setting: Setting) -> Figure:
    """Each set of questions has the same weight; its own rows stand above."""
    folders = [setting.folder / f"memory-{name}" for name, _, _ in _MEMORY_QUESTIONS]
    try:
        ours, peer = (sum(_recall(folder, name, 10) for folder in folders) / len(folders)
                      for name in ("default", "fts5-as-given"))
    except OSError as error:  # a set could not be made: its own row says why
        raise Failed(str(error)) from error
    return _at_least(_EVIDENCE_OF_ALL, ours, "FTS5, all words", peer, 1.25)


def _memory_recall(setting: Setting, name: str, what: str,
                   make: Callable[[pathlib.Path], None]) -> list[Figure]:
    """Where the evidence of questions stands: by default, with vectors, in FTS5."""
    try:
        folder = _memory_folder(setting, name, make)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:  # a package that is not there
        return [Figure(f"{what}: evidence of questions", problem=str(error))]
    _bench_program(setting, "memory", str(folder))
    rows = []
    for peer, title, goals in (("fts5", "FTS5, OR", {5: 1, 10: 1.05, 20: 1, 50: 1}),
                               ("fts5-as-given", "FTS5, all words", {10: 1.25})):
        _memory_peer(peer, folder)
        rows += [_at_least(f"{what}: evidence among the first {places}",
                           _recall(folder, "hits", places), title, _recall(folder, peer, places),
                           goal)
                 for places, goal in goals.items()]
    (folder / "hits.jsonl").rename(folder / "default.jsonl")
    embedding, problem = environment.prepare_wordllama()
    if problem:
        return [*rows, Figure(f"{what}: evidence, with vectors", problem=problem)]
    _bench_program(setting, "memory", str(folder), embedding)
    return rows + [_at_least(f"{what}: evidence among the first {places}, with vectors",
                             _recall(folder, "hits", places), "without",
                             _recall(folder, "default", places), 1)
                   for places in (5, 10, 20)]


def research(setting: Setting) -> list[Figure]:
    ours = _bench_program(setting, "research")
    waits = ours["research.calls"] * 0.05
    return [_at_most("longest prompt of a run over 10,000 rows of memory, CPU",
                     ours["research.prompt"], "goal", 0.02, 1, seconds),
            _at_most("the same", ours["research.prompt"], "its memory alone",
                     ours["research.memory"], 3, seconds),
            _at_most("a run of 50 nodes, scripted, CPU", ours["research.run"],
                     f"{ours['research.calls']:.0f} calls of 50 ms", waits, 0.05, seconds),
            _at_most("local sandbox, start to stop, CPU", ours["research.sandbox_cpu"],
                     "unshare -Urmpn --fork true", ours["research.unshare_cpu"], 1.5, seconds),
            _at_most("the same, wall time", ours["research.sandbox"],
                     "unshare -Urmpn --fork true", ours["research.unshare"], 1.5, seconds),
            _at_most("a run whose calls take 50 ms, one slot, wall time less calls",
                     ours["research.slots_1"] - ours["research.slots_1_calls"] * 0.05,
                     f"{ours['research.slots_1_calls']:.0f} calls of 50 ms",
                     ours["research.slots_1_calls"] * 0.05, 0.05, seconds),
            _faster("the same, 4 slots at once, wall time", ours["research.slots_4"],
                    "one slot", ours["research.slots_1"], 3.5, seconds),
            _at_most("resume of a run of 500 nodes, to its first new event, CPU",
                     ours["research.resume"], "plain SQL", ours["research.plain"], 2, seconds),
            _at_most("memory that 100 more nodes take", ours["research.memory_of_100_nodes"],
                     "goal", 1 << 20, 1, kilobytes)]


def engine_table(setting: Setting) -> list[Figure]:
    """Ours and other engines over one instant server, in rounds."""
    return table.measure(setting.dossier, setting.folder / "engines", setting.scale < 1, setting.groups)


GROUPS: dict[str, Callable[[Setting], list[Figure]]] = {
    "inspect": inspect_text, "ndjson": inspect_ndjson, "csv": inspect_csv,
    "context": large_context, "sandbox": sandbox, "jail": jail, "engine": engine, "batch": batch, "children": children,
    "start": start, "pack": pack, "tokens": tokens, "assemble": assemble,
    "agents": agents, "chat": chat, "conversations": conversation_list, "commands": commands, "model": model,
    "repository": repository_header, "memory": memory_search,
    "memory-store": memory_store, "research": research, "engines": engine_table}


def measure(name: str, setting: Setting) -> list[Figure]:
    """The figures of a group, or one row that says why there are none."""
    setting.folder.mkdir(parents=True, exist_ok=True)
    try:
        return GROUPS[name](setting)
    except (Failed, OSError) as error:
        return [Figure(name, problem=str(error))]


def show(rows: list[Figure], setting: Setting) -> None:
    """The table, in Markdown, on stdout."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}"
          + ("" if setting.scale == 1 else "; files of a tenth: the ratios of files do not count"))
    if load > (os.cpu_count() or 1) + 0.5:
        print("This machine is busy: run it again when it is quiet.", file=sys.stderr)
    cells = [["what", "ours", "beside", "ratio", "goal", ""]]
    for row in rows:
        beside = f"not measured: {row.problem}" if row.problem else row.peer
        cells.append([row.what, row.ours, beside, row.ratio_text, row.goal, row.verdict])
    widths = [max(len(line[i]) for line in cells) for i in range(6)]
    for index, line in enumerate(cells):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |")
        if index == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
