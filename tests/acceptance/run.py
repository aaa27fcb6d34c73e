#!/usr/bin/env python3
"""Runs the scenario files of tests/acceptance against the built command.

usage: run.py --dossier PATH [--jobs N] [FILE or folder ...]

A scenario is YAML; a file may hold several, parted by `---`. Keys:
  about, cases        what it shows, the spec's case ids
  files               {name: content} written into a fresh folder, where the command runs;
                      content may be {repeat: TEXT, times: N}, {bytes: "hex"}, a list of these, or
                      {start: TEXT, sparse: SIZE}: TEXT, then a hole to SIZE bytes
  context             as files, and each is handed to `ask` with -c
  args                the command's arguments; or
  ask, replies        `ask` with a scripted model that answers with `replies` (MOD-50 rules)
  window              tokens of the scripted model's window, in a config of its own; its output is
                      an eighth of it
  model               other fields of the scripted model's entry (docs/formats/data.md)
  serve               {replies: rules, roles: NAME}: `models serve-script` runs beside the command;
                      {serve} in args and env stands for its address, http://127.0.0.1:PORT
  recorded            {N: {path.with.dots: value}} that the N-th request at that server must hold;
                      {N: null}: there is none
  needs               javascript: skipped, and said so, where the worker is not built
  stdin, env          given to the command
  interrupt           TEXT: stdin stays open, and SIGINT is sent once stderr holds TEXT
  before              argument lists of commands run first (their exit status must be 0); the
                      script of `replies` is ../script.yaml
  stdout              exact; stdout_contains, stdout_lacks, stderr_contains, stderr_lacks: lists
  json                {path.with.dots: value} that the JSON on stdout must hold
  exit                exit code, 0 if absent
  requests            how many model requests the run's journal holds
  journal             event types of the run in order (warnings, context.stored left out)
  events              {type: [texts]}: some event of that type must contain each text (as JSON)
  events_lack         {type: [texts]}: none may; an empty list: there is no such event
  warnings            codes of the run's warnings, in order
  roles               {N: [roles]}: of the N-th request's messages
  prefix              stable: each turn's messages are the start of the next turn's; {changes: N}: but for
                      at most N turns; compacted: the system text, the first two messages and the last two turns stay byte-equal
  largest_request     tokens that no request of the run exceeds
  shown               texts that `runs show` must print of the run
  files_after         {name: content} after the command; null: there is no such file
  sent                {N: [texts]}: what the N-th request's messages must contain; -1: the last
  sent_lacks          {N: [texts]}: what they must not contain
  max_seconds         a bound that only a hang would pass
  max_memory          MiB of private memory that the command may use at most

Every assembly report on stdout or in a file that the command wrote must be valid by
docs/schemas/assembly-report.schema.json, whatever a scenario asks for.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import jsonschema
import yaml

from scripts.harness import is_sanitized

QUIET_EVENTS = {"warning", "context.stored", "bridge.call"}


def content_of(value) -> bytes:
    if isinstance(value, list):
        return b"".join(map(content_of, value))
    if isinstance(value, dict) and "repeat" in value:
        return (value["repeat"] * value["times"]).encode()
    if isinstance(value, dict) and "bytes" in value:
        return bytes.fromhex(value["bytes"])
    return str(value).encode()


def write_content(path: pathlib.Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, dict) and "sparse" in value:
        path.write_bytes(content_of(value["start"]))
        os.truncate(path, value["sparse"])
    else:
        path.write_bytes(content_of(value))


REPORT_SCHEMA = jsonschema.Draft202012Validator(json.loads(
    (pathlib.Path(__file__).parents[2] / "docs/schemas/assembly-report.schema.json").read_text()))
LARGEST_REPORT = 16 << 20  # bytes of a file that may hold one

# A model entry that stands for the built-in one (docs/guide/models.md).
SMALL_WINDOW = """schema: dossier.models/1
models:
  - {{name: scripted, provider: scripted, window: {window}, max_output: {output},
     tokens: {{bytes_per_token: 4.0, margin: 0}}, as_of: 2026-11-21, source: a test,
     capabilities: {{assistant_first: true, merge_same_role: false}}}}
"""


def reports_in(document):
    """The assembly reports anywhere inside a JSON document."""
    inner = document.values() if isinstance(document, dict) else document
    if isinstance(document, dict) and document.get("schema") == "dossier.assembly/1":
        yield document
    elif isinstance(document, (dict, list)):
        for value in inner:
            yield from reports_in(value)


def parsed(text: bytes):
    """The JSON object that a text holds, else None."""
    try:
        return json.loads(text) if text.lstrip()[:1] == b"{" else None
    except ValueError:
        return None


def lookup(document, path: str):
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def interrupted(command: list[str], work: pathlib.Path, env: dict, stdin: bytes, text: str,
                limit: float) -> subprocess.CompletedProcess:
    """Runs the command; SIGINT once stderr holds `text`, while stdin is still open."""
    with subprocess.Popen(command, cwd=work, env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        watchdog = threading.Timer(limit, process.kill)
        watchdog.start()
        process.stdin.write(stdin)
        process.stdin.flush()
        err = b""
        while text.encode() not in err and (part := process.stderr.read1()):
            err += part
        process.send_signal(signal.SIGINT)
        err += process.stderr.read()  # ends with the process, whose stdin is open until then
        out = process.stdout.read()
        code = process.wait()
        watchdog.cancel()
    if code == -signal.SIGKILL:
        raise subprocess.TimeoutExpired(command, limit)
    return subprocess.CompletedProcess(command, code, out, err)


JOURNAL_KEYS = {"requests", "journal", "sent", "sent_lacks", "events", "events_lack", "warnings",
                "roles", "prefix", "largest_request", "shown"}
KEYS = JOURNAL_KEYS | {"about", "cases", "needs", "files", "context", "args", "ask", "replies", "stdin",
                       "env", "before", "stdout", "stdout_contains", "stdout_lacks",
                       "stderr_contains", "stderr_lacks", "json", "exit", "max_seconds",
                       "max_memory", "files_after", "window", "model", "serve", "recorded", "interrupt"}


class Scenario:
    def __init__(self, spec: dict, dossier: str):
        self.spec = spec
        self.dossier = dossier
        self.problems = [f"unknown key {key}" for key in spec.keys() - KEYS]
        self.address = "{serve}"

    def check(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)

    def environment(self, home: str) -> dict:
        env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMPDIR": home,
               "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config",
               "XDG_CACHE_HOME": f"{home}/cache"}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                env[name] = os.environ[name]
        env.update({name: self.placed(value) for name, value in self.spec.get("env", {}).items()})
        return env

    def placed(self, value) -> str:
        return str(value).replace("{serve}", self.address)

    def arguments(self, work: pathlib.Path) -> list[str]:
        script = work.parent / "script.yaml"
        script.write_text(yaml.safe_dump(self.spec.get("replies", [])), "utf-8")
        if "ask" not in self.spec:
            return [self.placed(word) for word in self.spec["args"]]
        contexts = [word for name in self.spec.get("context", {}) for word in ("-c", name)]
        return ["ask", "-m", "scripted", "--script", str(script), *contexts,
                *[str(word) for word in self.spec["ask"]]]

    def limits(self) -> list[str]:
        """What stands in front of the command: it dies of an allocation above the limit."""
        if "max_memory" not in self.spec:
            return []
        return ["prlimit", f"--data={self.spec['max_memory'] << 20}"]

    @contextlib.contextmanager
    def server(self, home: pathlib.Path):
        """The server of `serve`, for as long as the command runs."""
        if "serve" not in self.spec:
            yield
            return
        serve = self.spec["serve"]
        (home / "served.yaml").write_text(yaml.safe_dump(serve["replies"]), "utf-8")
        roles = ["--roles", serve["roles"]] if "roles" in serve else []
        process = subprocess.Popen(
            [self.dossier, "models", "serve-script", "served.yaml", "--record", "served.jsonl",
             *roles], cwd=home, env=self.environment(str(home)), stdout=subprocess.PIPE, text=True)
        try:
            self.address = process.stdout.readline().strip().removesuffix("/v1")
            yield
        finally:
            process.terminate()
            process.communicate()

    def check_recorded(self, home: pathlib.Path) -> None:
        file = home / "served.jsonl"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        for number, wanted in self.spec.get("recorded", {}).items():
            if wanted is None or len(lines) < int(number):
                self.check(wanted is None and len(lines) < int(number),
                           f"{len(lines)} requests arrived; {number} is wanted as {wanted}")
                continue
            request = json.loads(lines[int(number) - 1])
            for path, value in wanted.items():
                try:
                    found = lookup(request, path)
                except (KeyError, IndexError, TypeError):
                    found = "(absent)"
                self.check(found == value, f"request {number}: {path} is {found!r}, not {value!r}")

    def run(self) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="dossier-acceptance-") as home:
            with self.server(pathlib.Path(home)):
                self.run_in(home)
            self.check_recorded(pathlib.Path(home))
        return self.problems

    def run_in(self, home: str) -> None:
        work = pathlib.Path(home) / "work"
        work.mkdir()
        for group in ("files", "context"):
            for name, value in self.spec.get(group, {}).items():
                write_content(work / name, value)
        self.configure(pathlib.Path(home) / "config/dossier")
        given = {file: file.read_bytes() for file in self.written(work)}
        env = self.environment(home)
        arguments = self.arguments(work)  # writes the script, which `before` may use too
        for before in self.spec.get("before", []):
            subprocess.run([self.dossier, *map(str, before)], cwd=work, env=env, check=True,
                           capture_output=True)
        stdin = content_of(self.spec.get("stdin", ""))
        try:
            command = [*self.limits(), self.dossier, *arguments]
            limit = self.spec.get("max_seconds", 60)
            if "interrupt" in self.spec:
                done = interrupted(command, work, env, stdin, self.spec["interrupt"], limit)
            else:
                done = subprocess.run(command, cwd=work, env=env, input=stdin,
                                      capture_output=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            self.problems.append("did not end in time")
            return
        self.check_output(done)
        self.check_reports("stdout", done.stdout)
        for file in self.written(work):
            if given.get(file) != (text := file.read_bytes()):
                self.check_reports(file.name, text)
        for name, value in self.spec.get("files_after", {}).items():
            found = (work / name).read_bytes() if (work / name).exists() else None
            wanted = None if value is None else content_of(value)
            self.check(found == wanted, f"file {name} is {found!r}")
        if JOURNAL_KEYS & self.spec.keys():
            self.check_journal(work, env)

    def configure(self, folder: pathlib.Path) -> None:
        if not {"window", "model"} & self.spec.keys():
            return
        window = self.spec.get("window", 131072)
        folder.mkdir(parents=True)
        (folder / "dossier.yml").write_text("models: {data: [models.yaml]}\n", "utf-8")
        data = yaml.safe_load(SMALL_WINDOW.format(window=window, output=window // 8))
        entry, other = data["models"][0], dict(self.spec.get("model", {}))
        entry["capabilities"] |= other.pop("capabilities", {})
        entry |= other
        (folder / "models.yaml").write_text(yaml.safe_dump(data), "utf-8")

    @staticmethod
    def written(work: pathlib.Path) -> list[pathlib.Path]:
        """The files that may hold a report."""
        return [file for file in work.rglob("*") if file.is_file() and not file.is_symlink()
                and file.stat().st_size <= LARGEST_REPORT]

    def check_reports(self, place: str, text: bytes) -> None:
        for report in reports_in(parsed(text)):
            for error in list(REPORT_SCHEMA.iter_errors(report))[:3]:
                self.problems.append(f"the report in {place} is not valid at "
                                     f"{error.json_path}: {error.message[:300]}")

    def check_output(self, done: subprocess.CompletedProcess) -> None:
        out = done.stdout.decode("utf-8", "replace")
        err = done.stderr.decode("utf-8", "replace")
        wanted = self.spec.get("exit", 0)
        self.check(done.returncode == wanted,
                   f"exit {done.returncode}, not {wanted}; stderr: {err[-600:]}")
        if "stdout" in self.spec:
            self.check(out == self.spec["stdout"], f"stdout is {out!r}, not {self.spec['stdout']!r}")
        for stream, text in (("stdout", out), ("stderr", err)):
            for part in self.spec.get(f"{stream}_contains", []):
                self.check(str(part) in text, f"{stream} lacks {part!r}: {text[-800:]!r}")
            for part in self.spec.get(f"{stream}_lacks", []):
                self.check(str(part) not in text, f"{stream} holds {part!r}")
        if "json" in self.spec:
            try:
                document = json.loads(out)
            except ValueError:
                self.problems.append(f"stdout is no JSON: {out[:300]!r}")
                return
            for path, value in self.spec["json"].items():
                try:
                    found = lookup(document, path)
                except (KeyError, IndexError, TypeError):
                    found = "(absent)"
                self.check(found == value, f"{path} is {found!r}, not {value!r}")

    def dossier_json(self, work: pathlib.Path, env: dict, *args: str):
        done = subprocess.run([self.dossier, *args, "--json"], cwd=work, env=env,
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    def check_journal(self, work: pathlib.Path, env: dict) -> None:
        runs = self.dossier_json(work, env, "runs", "list")["runs"]
        if not runs:
            self.problems.append("there is no run in the journal")
            return
        events = self.dossier_json(work, env, "runs", "show", runs[0]["run"])["events"]
        sent = [event for event in events if event["type"] == "request.sent"]
        if "requests" in self.spec:
            self.check(len(sent) == self.spec["requests"],
                       f"{len(sent)} requests, not {self.spec['requests']}")
        if "journal" in self.spec:
            types = [event["type"] for event in events if event["type"] not in QUIET_EVENTS]
            self.check(types == self.spec["journal"], f"journal is {types}")
        if "warnings" in self.spec:
            codes = [event["data"]["code"] for event in events if event["type"] == "warning"]
            self.check(codes == self.spec["warnings"], f"warnings are {codes}")
        if "largest_request" in self.spec:
            tokens = max((event["data"]["tokens"] for event in sent), default=0)
            self.check(tokens <= self.spec["largest_request"], f"a request has {tokens} tokens")
        if "shown" in self.spec:
            story = subprocess.run([self.dossier, "runs", "show", runs[0]["run"]], cwd=work,
                                   env=env, capture_output=True, check=True).stdout.decode()
            for part in self.spec["shown"]:
                self.check(part in story, f"runs show lacks {part!r}: {story[-2000:]}")
        self.check_events(events)
        prompts = self.prompts(env, sent)
        self.check_messages([prompt for prompt, event in zip(prompts, sent)
                             if event["data"]["purpose"] in ("root", "extract", "direct")])
        for key, want in (("sent", True), ("sent_lacks", False)):
            for number, parts in self.spec.get(key, {}).items():
                if len(sent) < abs(int(number)):
                    self.problems.append(f"there is no request {number}")
                    continue
                place = int(number) - 1 if int(number) > 0 else int(number)
                text = self.text_of(env, sent[place], prompts[place])
                for part in (content_of(value).decode() for value in parts):
                    found = part in text
                    self.check(found == want,
                               f"request {number} {'lacks' if want else 'holds'} {part[:500]!r}: {text[-900:]}")

    def check_events(self, events: list) -> None:
        for key, want in (("events", True), ("events_lack", False)):
            for kind, parts in self.spec.get(key, {}).items():
                found = [json.dumps(event["data"], ensure_ascii=False) for event in events
                         if event["type"] == kind]
                if not parts:
                    self.check(bool(found) == want, f"{len(found)} events {kind}: {found[:3]}")
                for part in parts:
                    self.check(any(part in text for text in found) == want,
                               f"events {kind} {'lack' if want else 'hold'} {part!r}: {found}")

    def check_messages(self, requests: list) -> None:
        for number, roles in self.spec.get("roles", {}).items():
            found = [turn["role"] for turn in requests[int(number) - 1]["turns"]]
            self.check(found == roles, f"roles of request {number} are {found}")
        if self.spec.get("prefix") == "stable":
            texts = [[request["system"][0]["text"]] +
                     ["\n".join(block["text"] for block in turn["blocks"])
                      for turn in request["turns"]] for request in requests]
            for number, (before, after) in enumerate(zip(texts, texts[1:]), 1):
                for index, (old, new) in enumerate(zip(before, after)):
                    # White space between two parts of one message is the layout's matter.
                    self.check(old.split() == new.split(),
                               f"message {index} of request {number} changed: {old!r} to {new!r}")

        if isinstance(self.spec.get("prefix"), dict):
            texts = [[" ".join("\n".join(block["text"] for block in turn["blocks"]).split())
                      for turn in request["turns"]] for request in requests]
            changed = [number for number, (old, new) in enumerate(zip(texts, texts[1:]), 2)
                       if new[:len(old)] != old]
            self.check(len(changed) <= self.spec["prefix"]["changes"],
                       f"requests {changed} change what was sent before them")

        if self.spec.get("prefix") == "compacted":
            for number, (before, after) in enumerate(zip(requests, requests[1:]), 1):
                old, new = before["turns"], after["turns"]
                kept = [(before["system"], after["system"]), (old[:2], new[:2])]
                if number > 1:
                    texts = [["\n\n".join(block["text"] for block in turn["blocks"])
                              for turn in turns] for turns in (old, new)]
                    kept += [(texts[0][-2:], texts[1][-4:-2])]
                for one, other in kept:
                    self.check(one == other,
                               f"request {number + 1} changed {one!r} to {other!r}")

    def prompts(self, env: dict, sent: list) -> list:
        """The messages of each request; None for those of sub-calls, which have one text."""
        told, prompts = {}, []
        for event in sent:
            names = event["data"]["messages"]
            if not isinstance(names, list):
                prompts.append(None)
                continue
            told.update({one["n"]: one for one in names if isinstance(one, dict)})
            listed = [one if isinstance(one, dict) else told[one] for one in names]
            turns = [{"role": one["role"], "blocks": [{"text": self.body(env, one["body"])}]}
                     for one in listed]
            prompts.append({"system": [turn["blocks"][0] for turn in turns
                                       if turn["role"] == "system"],
                            "turns": [turn for turn in turns if turn["role"] != "system"]})
        return prompts

    def text_of(self, env: dict, event: dict, prompt: dict | None) -> str:
        if not prompt:
            return self.body(env, event["data"]["messages"])
        blocks = prompt["system"] + [block for turn in prompt["turns"] for block in turn["blocks"]]
        return "\n\n".join(block["text"] for block in blocks)

    @staticmethod
    def body(env: dict, body: dict) -> str:
        if "text" in body:
            return body["text"]
        name = body["sha256"]
        found = list(pathlib.Path(env["XDG_DATA_HOME"]).rglob(f"{name[:2]}/{name[2:]}")) or \
            list(pathlib.Path(env["XDG_DATA_HOME"]).rglob(name))
        return found[0].read_text("utf-8")


def limits_memory(spec: dict) -> bool:
    return "max_memory" in spec or "--cell-memory" in spec.get("ask", [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    dossier = str(pathlib.Path(args.dossier).resolve())
    roots = [pathlib.Path(path) for path in args.paths] or [pathlib.Path(__file__).parent]
    files = sorted(file for root in roots
                   for file in ([root] if root.is_file() else root.rglob("*.yaml")))
    scenarios = [(file, spec) for file in files
                 for spec in yaml.safe_load_all(file.read_text("utf-8"))]
    found = len(scenarios)
    if is_sanitized(dossier):
        scenarios = [item for item in scenarios if not limits_memory(item[1])]
    skipped = found - len(scenarios)
    has_javascript = (pathlib.Path(dossier).parent / "dossier-javascript-worker").exists()
    without = [item for item in scenarios if item[1].get("needs") == "javascript" and not has_javascript]
    scenarios = [item for item in scenarios if item not in without]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda item: Scenario(item[1], dossier).run(), scenarios)
        for (file, spec), problems in zip(scenarios, results):
            if problems:
                failed += 1
                print(f"FAILED {file}: {spec['about']}")
                for problem in problems:
                    print(f"  {problem}", flush=True)
    skips = f", {skipped} skipped (memory has no limit under a sanitizer)" if skipped else ""
    if without:
        skips += (f", {len(without)} NOT RUN: this build has no JavaScript worker "
                  "(scripts/setup --javascript)")
    print(f"{len(scenarios) - failed} passed, {failed} failed{skips}")
    return 1 if failed or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
