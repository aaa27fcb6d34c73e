"""Runs in the private environment of RLM-Bench: writes its data folder, and starts it with a runner for Dossier.

usage: inside.py export ROWS DATA        (ROWS: what rows.rows_of gives, as JSON)
       inside.py bench DOSSIER ARGUMENT… (arguments of rlm-bench; the model's address is OPENAI_BASE_URL)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def export(rows_file: str, data: pathlib.Path) -> None:
    import datasets
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import rows
    for name, found in json.loads(pathlib.Path(rows_file).read_text()).items():
        folder, split = rows.SHAPES[name]
        if split:
            datasets.DatasetDict({split: datasets.Dataset.from_list(found["rows"])}).save_to_disk(str(data / folder))
        else:
            (data / folder).mkdir(parents=True, exist_ok=True)
            (data / folder / "records.json").write_text(json.dumps({"data": found["rows"]}))


def register(dossier: str) -> None:
    from eval import runners

    @runners.register_runner("dossier")
    class DossierRunner(runners.BaseRunner):
        description = "dossier ask"

        def run(self, task: str, context: str) -> runners.RunResult:
            began = time.time()
            with tempfile.TemporaryDirectory() as home:
                path = pathlib.Path(home, "context.txt")
                path.write_text(context)
                words = [dossier, "ask", "--json", "--no-memory", "--progress", "none", "--base-url",
                         os.environ["OPENAI_BASE_URL"], "-m", self.model, "-c", str(path), "-"]
                done = subprocess.run(words, input=task, capture_output=True, text=True, check=False, timeout=600,
                                      env={"HOME": home, "PATH": os.environ["PATH"], "OPENAI_API_KEY": "eval"})
            try:
                said = json.loads(done.stdout)
            except ValueError:
                return runners.RunResult(response="", error=done.stderr[-300:] or f"exit {done.returncode}",
                                         time_seconds=time.time() - began)
            tokens = said.get("tokens") or {}
            return runners.RunResult(response=said.get("answer") or "", input_tokens=tokens.get("input", 0),
                                     output_tokens=tokens.get("output", 0),
                                     total_tokens=tokens.get("input", 0) + tokens.get("output", 0),
                                     time_seconds=time.time() - began, iterations=said.get("turns", 1))


def main() -> None:
    if sys.argv[1] == "export":
        export(sys.argv[2], pathlib.Path(sys.argv[3]))
        return
    register(sys.argv[2])
    sys.argv = ["rlm-bench", *sys.argv[3:]]
    from eval import run
    sys.exit(run.main())


if __name__ == "__main__":
    main()
