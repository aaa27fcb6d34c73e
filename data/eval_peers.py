"""Calls one engine of others as its own documentation says, for `dossier eval run`.

usage: adapter.py ENGINE shipped|matched CONTEXT QUESTION_FILE BASE_URL MODEL ANSWER_FILE META_FILE

The scoreboard of sandboxes (bench/sandbox) calls the same functions; `more` are arguments of the engine's own.
"""

import json
import pathlib
import subprocess
import sys

TURNS, DEPTH, IN_FLIGHT = 30, 1, 16  # of "matched": what Dossier has by default
MANY = 10_000_000  # instead of an engine's own limit; calls and time are limited alike for all, outside
LOOP = {"max_iterations": TURNS, "max_depth": DEPTH, "max_concurrent_subcalls": IN_FLIGHT}
DROSTE = ["--max-iterations", TURNS, "--budget-depth", DEPTH, "--budget-tokens", 1 << 40, "--budget-subcalls", MANY,
          "--budget-wall-ms", MANY, "--rollout-config", json.dumps({"concurrency": IN_FLIGHT})]
KEY = "eval"


def rlms(context, question, url, model, matched, **more):
    import rlm
    limits = (LOOP if matched else {}) | more
    engine = rlm.RLM(backend="openai", backend_kwargs={"model_name": model, "base_url": url, "api_key": KEY}, **limits)
    return engine.completion(context, root_prompt=question).response


def dspy(context, question, url, model, matched, **more):
    import dspy as library
    library.configure(lm=library.LM(f"openai/{model}", api_base=url, api_key=KEY, cache=False))
    limits = ({"max_iters": TURNS, "max_llm_calls": MANY} if matched else {}) | more
    return library.RLM("context, query -> answer", **limits)(context=context, query=question).answer


def dspy_local(context, question, url, model, matched, **more):
    from dspy.primitives.local_interpreter import LocalInterpreter
    return dspy(context, question, url, model, matched, interpreter_factory=LocalInterpreter, **more)


def droste(context, question, url, model, matched, path):
    size = str(len(context.encode()) + 1)
    words = [sys.executable, str(pathlib.Path(sys.executable).with_name("droste")), question, path, "--provider", "openai", "--model", model,
             "--base-url", url, "--api-key", KEY, "--max-bytes", size, "--max-file-bytes", size, "-q", *(map(str, DROSTE) if matched else ())]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr[-500:] or f"droste ended with {done.returncode}")
    return done.stdout


def minrlm(context, question, url, model, matched, **more):
    import minrlm as library
    limits = ({"max_iterations": TURNS, "max_sub_llm_calls": MANY} if matched else {}) | more
    answer = library.RLM(model, base_url=url, api_key=KEY, **limits).completion(task=question, context=context)
    return getattr(answer, "response", answer)


def recursive_llm(context, question, url, model, matched, **more):
    import rlm
    limits = (LOOP | {"repl_timeout": MANY / 1000} if matched else {}) | more
    return rlm.RLM(model=f"openai/{model}", api_base=url, api_key=KEY, **limits).complete(query=question, context=context)


ENGINES = {"rlms": rlms, "dspy-deno": dspy, "dspy-local": dspy_local, "droste": droste, "minrlm": minrlm,
           "recursive-llm": recursive_llm}


def main():
    name, setting, path, question_file, url, model, answer_file, meta_file = sys.argv[1:9]
    context = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    question = pathlib.Path(question_file).read_text(encoding="utf-8")
    more = {"path": path} if name == "droste" else {}
    answer = ENGINES[name](context, question, url, model, setting == "matched", **more)
    pathlib.Path(answer_file).write_text(str(answer), encoding="utf-8")
    pathlib.Path(meta_file).write_text(json.dumps({"ended": "submitted"}), encoding="utf-8")


if __name__ == "__main__":
    main()
