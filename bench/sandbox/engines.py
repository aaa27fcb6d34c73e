"""The columns of the scoreboard: engines, how each is started, and how a model would send it a cell.

A column is an engine in one mode: as it comes, or in the fallback that its documentation names. What cannot be run
here stands in `ABSENT`, with the reason. Thread-safety: data and pure functions.
"""

import dataclasses
import os
import pathlib

PEERS = "/opt/peers"
PYTHON = "/usr/bin/python3"
SCRIPTED_MODEL = "scripted"
QUESTION = "Which word comes first?"


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    engine: str                     # control, dossier, or a name of data/eval_peers.py
    mode: str                       # default, fallback
    dialect: str                    # how cells are sent: a key of DIALECTS
    languages: tuple = ("python",)  # of cells that it can run
    namespaces: bool = True         # False: the subject can make none
    package: str = ""               # of PyPI; "": none
    says: str = ""                  # what the mode is

    def environment(self) -> str:
        """The folder of its private environment, beside those of `dossier eval`."""
        return "dspy-deno" if self.engine == "dspy-local" else self.engine


COLUMNS = (
    Column("control", "control", "default", "plain", ("python", "javascript"), says="python3, or node, with nothing around"),
    Column("dossier", "dossier", "default", "dossier", ("python", "javascript"), says="strict"),
    Column("dossier without namespaces", "dossier", "default", "dossier", ("python", "javascript"), namespaces=False,
           says="strict, where no namespace can be made"),
    Column("rlms", "rlms", "default", "rlms", package="rlms", says="environment local"),
    Column("rlms ipython", "rlms", "fallback", "rlms", package="rlms", says="environment ipython in a process of its own"),
    Column("dspy", "dspy-deno", "default", "dspy", ("pyodide",), package="dspy", says="Deno and Pyodide"),
    Column("dspy local", "dspy-local", "fallback", "dspy", package="dspy", says="LocalInterpreter"),
    Column("droste", "droste", "default", "droste", package="droste", says="native"),
    Column("minrlm", "minrlm", "default", "minrlm", package="minrlm", says="local REPL"),
    Column("minrlm without docker", "minrlm", "fallback", "minrlm", package="minrlm",
           says="use_docker=True where there is no docker: it warns and goes on locally"),
    Column("recursive-llm", "recursive-llm", "default", "bare", package="recursive-llm", says="RestrictedPython"),
)
ABSENT = {
    "rlms docker, modal, prime, daytona, e2b": "needs a docker daemon or an account",
    "droste pyodide": "an embedder has to bring isolation and time limits of his own; nothing starts it as it comes",
    "minrlm docker": "needs a docker daemon",
}


def fenced(word: str, code: str) -> str:
    return f"I look.\n```{word}\n{code.rstrip()}\n```"


def dspy_fields(code: str) -> str:
    return f"[[ ## reasoning ## ]]\nI look.\n\n[[ ## code ## ]]\n```python\n{code.rstrip()}\n```\n\n[[ ## completed ## ]]"


# dialect: (a cell as its model sends it, the final answer "done", the value of the variable answer_text as the answer)
DIALECTS = {
    "plain": (str, "", ""),
    "bare": (str, 'FINAL("done")', "FINAL_VAR(answer_text)"),
    "dossier": (lambda code: fenced("repl", code), 'FINAL("done")', "FINAL_VAR(answer_text)"),
    "rlms": (lambda code: fenced("repl", code), fenced("repl", 'answer["content"] = "done"\nanswer["ready"] = True'),
             fenced("repl", 'answer["content"] = answer_text\nanswer["ready"] = True')),
    "droste": (lambda code: fenced("python", code), fenced("python", 'answer["content"] = "done"\nanswer["ready"] = True'),
               fenced("python", 'answer["content"] = answer_text\nanswer["ready"] = True')),
    "minrlm": (lambda code: fenced("python", code), fenced("python", 'FINAL("done")'), fenced("python", "FINAL(answer_text)")),
    "dspy": (dspy_fields, dspy_fields('SUBMIT(answer="done")'), dspy_fields("SUBMIT(answer=answer_text)")),
}


# Engines that are played, each of which earns one verdict: for the tests of the scoreboard itself.
FAKES = tuple(Column(f"fake {kind}", f"fake-{kind}", "default", "dossier")
              for kind in ("through", "refused", "ended", "late", "hangs"))


def command(column: Column, port: int, limit: float, budget: int, javascript: bool) -> list[str]:
    """The words that start the engine with the question; the context is context.txt in the working folder."""
    url = f"http://127.0.0.1:{port}/v1"
    if column.engine == "control":
        return ["/usr/bin/node", "/tmp/cell.mjs"] if javascript else [PYTHON, "/opt/board/control.py", "/tmp/cell.py", str(port)]
    if column.engine.startswith("fake-"):
        return [PYTHON, "/opt/board/fake_engine.py", column.engine.removeprefix("fake-"), url]
    if column.engine == "dossier":
        more = ["--max-iterations", str(budget)] if budget else []
        return ["/opt/dossier/bin/dossier", "ask", "--mode", "recursive", "--no-memory", "--base-url", url, "-m", SCRIPTED_MODEL,
                "--retries", "0", "--cell-time", f"{limit:g}s", "-c", "context.txt", *more,
                *(["--dialect", "javascript"] if javascript else []), QUESTION]
    return [f"{PEERS}/{column.environment()}/bin/python", "/opt/board/peer.py", column.engine, column.mode, url, SCRIPTED_MODEL,
            f"{limit:g}", str(budget)]


def binds(column: Column, dossier: str, peers: pathlib.Path) -> dict:
    here = pathlib.Path(__file__).resolve().parent
    found = {"/opt/board": str(here), "/opt/bench": str(here.parent), "/opt/data": str(here.parent.parent / "data")}
    if column.engine == "dossier":
        found["/opt/dossier"] = str(pathlib.Path(dossier).resolve().parents[1])
    if column.package:
        found[f"{PEERS}/{column.environment()}"] = str(peers / column.environment())
        if column.environment() == "dspy-deno":
            found["/opt/deno-cache"] = str(peers / "deno-cache")
    return found


def version(column: Column, dossier: str, peers: pathlib.Path) -> str:
    """The engine's version, or "" where it is not installed."""
    if not column.package:
        return "here" if column.engine != "dossier" or os.access(dossier, os.X_OK) else ""
    stamp = peers / column.environment() / "version"
    return stamp.read_text().strip() if stamp.exists() else ""
