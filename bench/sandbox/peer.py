"""Starts one engine of others as its own documentation says. Run by the Python of its private environment.

usage: peer.py ENGINE default|fallback BASE_URL MODEL LIMIT BUDGET      (in a folder with context.txt)
"""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "/opt/data")

import eval_peers  # noqa: E402 (found by the line above)

QUESTION = "Which word comes first?"


def main() -> None:
    name, mode, url, model, limit, budget = sys.argv[1:7]
    eval_peers.KEY = os.environ["OPENAI_API_KEY"]
    if name == "droste":  # a command: what it shows, it shows itself
        words = ["--max-iterations", budget] if int(budget) else []
        os.execv(sys.executable, [sys.executable, str(pathlib.Path(sys.executable).with_name("droste")), QUESTION, "context.txt",
                                  "--provider", "openai", "--model", model, "--base-url", url, "-q", *words])
    more: dict = {}
    if int(budget):
        more["max_iters" if name.startswith("dspy") else "max_iterations"] = int(budget)
    if name == "recursive-llm":
        more["repl_timeout"] = float(limit)
    if (name, mode) == ("rlms", "fallback"):
        more |= {"environment": "ipython", "environment_kwargs": {"kernel_mode": "subprocess", "cell_timeout": float(limit)}}
    if (name, mode) == ("minrlm", "fallback"):
        more["use_docker"] = True
    context = pathlib.Path("context.txt").read_text()
    # A library shows nothing: what is printed here is our doing, so it is printed without its control characters.
    print(ascii(eval_peers.ENGINES[name](context, QUESTION, url, model, False, **more)), flush=True)


if __name__ == "__main__":
    main()
