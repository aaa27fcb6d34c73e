#!/usr/bin/env python3
"""Runs every command that README.md and docs/guide show, and compares what it prints with the page.  (FLT-47)

guide_test.py --dossier PATH --source FOLDER [--show] [PAGE ...]

A command is a line of a code block that begins with `$ `, or, in a block without such lines, one that begins
with `dossier` or `make`, or pipes into `dossier`. The lines below it, up to the next command, are what it prints;
`…` there stands for anything. Each page has a scratch folder and a home of its own, in which its commands run
one after the other. `pages.yaml`, beside this file, says for each page what it needs:

  files       {name: text} of the scratch folder; setup: a script for bash that is run there first
  replies     what a model answers (docs/formats/scripts.md): every provider's address is a server with these
  env         variables
  commands    by the command as the page has it, where it is not simply run with exit status 0:
    skip      why it is not run
    as        what is run instead, where the page has a placeholder
    setup, replies, exit, stdin, env
    vary      patterns of what differs from run to run, in the page's output and in ours
    print     why what it prints is not compared with the page
    shows     texts that must stand in what it prints

A page's synopses (`dossier memory COMMAND [--json]`) and commands in running text are not run: their commands
and flags are looked up in `--help`. A command of pages.yaml that its page does not have is an error.
--show prints what each command printed. docs/guide/commands.md is not looked at: it is written by the program.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SYNOPSIS = re.compile(r"\[-|\[[A-Z]+\]|\bCOMMAND\b|\b(IDEA|FILE|ID) \[|\bFILE…|\w\|\w")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
TYPED = re.compile(r"^(\$ )|^(dossier|make) |^(?!.*#.*\|)[^#]*\| dossier |^[A-Z_]+=\S* dossier ")
NOT_SHELL = {"yaml", "cpp", "json", "text"}
COMMAND_LIMIT = 120  # seconds

arguments = argparse.Namespace()


class Example:
    """A command of a page, and the lines that it prints there."""

    def __init__(self, line: int, command: str, typed: bool):
        self.line, self.command, self.typed, self.output = line, command, typed, []


def code_blocks(text: str):
    """(number of the first line, language, lines) of each block, indented or between fences."""
    lines = text.split("\n")
    i, in_usage = 0, False
    while i < len(lines):
        line = lines[i]
        in_usage = line.startswith("<!-- usage") or (in_usage and not line.startswith("<!-- end of usage"))
        if line.startswith("```"):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            yield i + 2, line[3:].strip(), lines[i + 1:end]
            i = end
        elif line.startswith("    ") and not lines[i - 1].strip() and not in_usage:
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield i + 1, "", [one[4:] for one in "\n".join(lines[i:end]).rstrip().split("\n")]
            i = end - 1
        i += 1


def examples_in(lines: list[str], number: int) -> list[Example]:
    typed = any(line.startswith("$ ") for line in lines)
    found: list[Example] = []
    going_on = False
    for offset, line in enumerate(lines):
        # In a block with `$ `, other lines are output, but for those that stand before the first of them.
        begins = line.startswith("$ ") if typed and (found and found[-1].typed) else bool(TYPED.match(line))
        if going_on:
            found[-1].command += "\n" + line
        elif begins:
            found.append(Example(number + offset, line.removeprefix("$ "), line.startswith("$ ")))
        elif found and found[-1].typed:
            found[-1].output.append(line)
        going_on = (going_on or begins) and line.endswith("\\")
    for example in found:
        example.command = re.sub(r"\s*\\\n\s*", " ", example.command)
        example.command = re.sub(r"\s{2,}# .*$|\s+#\s.*$", "", example.command)
        while example.output and not example.output[-1].strip():
            example.output.pop()
    return found


@functools.cache
def help_of(words: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run([arguments.dossier, *words, "--help"], text=True, capture_output=True,
                              env={"PATH": os.environ["PATH"], "HOME": home}).stdout


def faults_of_synopsis(text: str) -> list[str]:
    """Commands and flags that the program does not have."""
    words = text.split()[1:]
    command: tuple[str, ...] = ()
    for word in words:
        below = re.search(r"^Commands:\n(.*?)(?:\n\n|\Z)", help_of(command), re.M | re.S)
        names = re.findall(r"^  (\S+)", below[1], re.M) if below else []
        if not names:
            break
        unknown = set(word.split("|")) - set(names)
        if unknown and re.match(r"[a-z][a-z|-]*$", word):
            return [f"there is no command `dossier {' '.join((*command, *unknown))}`"]
        if unknown:
            break
        command += (word.split("|")[0],)
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text.split(" -- ")[0]))
    texts = help_of(command)
    if re.search(r"^Commands:", texts, re.M) and "COMMAND" in words:  # of any of the commands below
        texts += "".join(help_of((*command, name)) for name in
                         re.findall(r"^  ([a-z-]+)", re.search(r"^Commands:\n(.*?)\n\n", texts, re.M | re.S)[1], re.M))
    known = set(re.findall(r"--[a-z][a-z-]*", texts))
    known |= {"--no-" + flag[2:] for flag in known} | {"--help", "--version"}
    return [f"`dossier {' '.join(command)}` has no {flag}" for flag in sorted(flags - known)]


def matches(wanted: list[str], printed: str, vary: list[str]) -> bool:
    def plain(text: str) -> str:
        for pattern in vary:
            text = re.sub(pattern, "~", text)
        return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
    pattern = re.escape(plain("\n".join(wanted))).replace("…", "(?s:.*)")
    return re.fullmatch(pattern, plain(printed)) is not None


class Page:
    def __init__(self, path: pathlib.Path, needs: dict):
        self.name = str(path.relative_to(arguments.source))
        self.needs = needs
        self.unused = set(needs.get("commands", {}))
        self.text = path.read_text("utf-8")
        self.faults: list[str] = []
        self.log: list[str] = []
        self.count = {"run": 0, "compared": 0, "listed": 0, "looked up": 0}

    def check(self) -> "Page":
        with tempfile.TemporaryDirectory(prefix="dossier-guide-", ignore_cleanup_errors=True) as folder:
            self.folder = pathlib.Path(folder)
            self.work = self.folder / "work"
            for name in ("work", "home", "bin"):
                (self.folder / name).mkdir()
            (self.folder / "bin/dossier").symlink_to(arguments.dossier)
            self.env = {"PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": f"{self.folder}/home",
                        "LANG": "C.UTF-8", "USER": "ann", "SOURCE": str(arguments.source),
                        "GIT_CONFIG_NOSYSTEM": "1", **self.needs.get("env", {})}
            for name, text in self.needs.get("files", {}).items():
                (self.work / name).parent.mkdir(parents=True, exist_ok=True)
                (self.work / name).write_text(text)
            if "setup" in self.needs:
                self.prepare(self.needs["setup"])
            for number, language, lines in code_blocks(self.text):
                if language not in NOT_SHELL:
                    for example in examples_in(lines, number):
                        self.check_example(example)
        self.check_running_text()
        self.faults += [f"pages.yaml: {self.name} has no command `{command}`" for command in sorted(self.unused)]
        return self

    def fault(self, example: Example, what: str) -> None:
        lines = what.rstrip().split("\n")
        what = "\n".join([*lines[:30], *(["…"] if len(lines) > 30 else [])])
        self.faults.append(f"{self.name}:{example.line}: {example.command}\n    {what}")

    def prepare(self, script: str) -> None:
        code, out, err = self.run(f"set -eu; {script}", {}, self.needs.get("replies"))
        if code != 0:
            self.faults.append(f"{self.name}: setup ends with {code}:\n{script}\n{out}{err}")

    def check_example(self, example: Example) -> None:
        how = self.needs.get("commands", {}).get(example.command)
        self.unused.discard(example.command)
        if how is None and SYNOPSIS.search(QUOTED.sub("", example.command)):
            self.count["looked up"] += 1
            for what in faults_of_synopsis(example.command):
                self.fault(example, what)
            return
        how = how or {}
        if "skip" in how:
            self.count["listed"] += 1
            return
        command = how.get("as", example.command)
        replies = how.get("replies", self.needs.get("replies"))
        try:
            if "setup" in how:
                self.prepare(how["setup"])
            code, out, err = self.run(command, how, replies)
        except subprocess.TimeoutExpired:
            self.fault(example, f"runs longer than {COMMAND_LIMIT} s")
            return
        printed = out + err
        self.count["run"] += 1
        self.log.append(f"{self.name}:{example.line} $ {command}\n{printed}[{code}]\n")
        if code != how.get("exit", 0):
            self.fault(example, f"exit status {code}:\n{printed}")
        self.count["compared"] += bool(example.output) and "print" not in how
        if example.output and "print" not in how and not any(
                matches(example.output, text, how.get("vary", [])) for text in (out, err, printed)):
            self.fault(example, "prints:\n" + printed)
        for text in how.get("shows", []):
            if text not in printed:
                self.fault(example, f"prints no `{text}`:\n{printed}")

    def run(self, command: str, how: dict, replies) -> tuple[int, str, str]:
        env = {**self.env, **how.get("env", {})}
        server = None
        if replies is not None:
            script = self.folder / "replies.yaml"
            script.write_text(yaml.safe_dump(replies))
            server = subprocess.Popen([arguments.dossier, "models", "serve-script", script], env=self.env, text=True,
                                      cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            told = re.search(r"http://[\d.:]+", server.stdout.readline())
            if not told:
                raise AssertionError(f"{self.name}: `{command}`: serve-script does not take {replies}")
            address = told[0]
            env |= {"OPENAI_API_KEY": "for-a-test", "OPENAI_BASE_URL": f"{address}/v1"}
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.work, env=env, text=True, errors="replace",
                                  input=how.get("stdin", ""), capture_output=True, timeout=COMMAND_LIMIT)
        finally:
            if server:
                server.terminate()
                server.wait()
                server.stdout.close()
        return done.returncode, self.cleaned(done.stdout), self.cleaned(done.stderr)

    def cleaned(self, text: str) -> str:
        return text.replace(str(self.work), "WORK").replace(str(self.folder), "")

    def check_running_text(self) -> None:
        prose = re.sub(r"^```.*?^```$|^    [^\n]*$", "", self.text, flags=re.S | re.M)
        for text in re.findall(r"`(dossier [a-z][^`]*)`", prose):
            self.count["looked up"] += 1
            self.faults += [f"{self.name}: `{text}`: {what}" for what in faults_of_synopsis(text)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dossier", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("pages", nargs="*")
    parser.parse_args(namespace=arguments)
    arguments.dossier = arguments.dossier.resolve()
    arguments.source = arguments.source.resolve()
    needs = yaml.safe_load((HERE / "pages.yaml").read_text("utf-8"))
    paths = [arguments.source / "README.md", *sorted((arguments.source / "docs/guide").glob("*.md"))]
    paths = [path for path in paths if path.name != "commands.md"
             and (not arguments.pages or path.stem in arguments.pages)]
    unknown = set(needs) - {str(path.relative_to(arguments.source)) for path in paths}
    faults = [] if arguments.pages else [f"pages.yaml: there is no page {name}" for name in sorted(unknown)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda path: Page(path, needs.get(str(path.relative_to(arguments.source)), {})).check(),
                              paths))
    total = {name: sum(page.count[name] for page in pages) for name in pages[0].count}
    for page in pages:
        faults += page.faults
        if arguments.show:
            print("\n".join(page.log))
    print("\n".join(faults + [", ".join(f"{count} {name}" for name, count in total.items())]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
