"""Starts one engine of others as its own documentation says. Run by the Python of its private environment.

usage: peer.py ENGINE default|fallback BASE_URL MODEL LIMIT BUDGET      (in a folder with context.txt)
"""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "/opt/data")

import eval_peers  # noqa: E402 (found by the line above)


def main() -> None:
    name, mode, url, model, limit, budget = sys.argv[1:7]
    eval_peers.KEY = os.environ["OPENAI_API_KEY"]
    more: dict = {"path": "context.txt"} if name == "droste" else {}
    if int(budget):
        more["max_iters" if name.startswith("dspy") else "max_iterations"] = int(budget)
    if name == "recursive-llm":
        more["repl_timeout"] = float(limit)
    if (name, mode) == ("rlms", "fallback"):
        more |= {"environment": "ipython", "environment_kwargs": {"kernel_mode": "subprocess", "cell_timeout": float(limit)}}
    if (name, mode) == ("minrlm", "fallback"):
        more["use_docker"] = True
    context = pathlib.Path("context.txt").read_text()
    print(eval_peers.ENGINES[name](context, "Which word comes first?", url, model, False, **more), flush=True)


if __name__ == "__main__":
    main()
