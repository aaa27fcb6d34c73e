#!/usr/bin/env python3
"""The engines of others, each called in process as its documentation says. One adapter an engine.

usage: peers.py ENGINE             asks for each line of stdin: {url, context, question, turns, depth, limits}
       peers.py ENGINE once LINE   the same for one line, and prints the answer: the whole command

Run by the interpreter of the engine's private environment (bench/eval_peers install ENGINE). `context` is a
file; it is read once, as a program has its text at hand. `limits` are arguments of the engine's own. Each
line is answered by {"answer": TEXT} or {"error": TEXT}. The engine itself is made once for one setting.
"""

import functools
import json
import os
import pathlib
import sys

MODEL, KEY = "instant", "none"
MANY = 10_000_000  # a limit that is not meant to be met


def rlms(url, turns, depth, limits):
    import rlm
    if "log_dir" in limits:
        from rlm.logger import RLMLogger
        limits = {"logger": RLMLogger(log_dir=limits["log_dir"])}
    engine = rlm.RLM(backend="openai", backend_kwargs={"model_name": MODEL, "base_url": url, "api_key": KEY},
                     **{"max_iterations": turns, "max_depth": depth, "max_concurrent_subcalls": 16, **limits})
    return lambda context, question: engine.completion(context, root_prompt=question).response


def dspy_local(url, turns, depth, limits):
    import dspy
    from dspy.primitives.local_interpreter import LocalInterpreter
    dspy.configure(lm=dspy.LM(f"openai/{MODEL}", api_base=url, api_key=KEY, cache=False, max_tokens=4096))
    engine = dspy.RLM("context, query -> answer", interpreter_factory=LocalInterpreter,
                      **{"max_iters": turns, "max_llm_calls": MANY, **limits})
    return lambda context, question: engine(context=context, query=question).answer


def droste(url, turns, depth, limits):
    import droste as library
    budget = library.Budget(**{"tokens": 1 << 40, "subcalls": MANY, "depth": depth, "wall_ms": 3_600_000,
                               "max_iterations": turns, **limits})
    settings = {"base_url": url, "api_key": KEY, "model": MODEL}

    config = library.EnvironmentConfig(kind="native", budget=budget)
    rollout = library.RolloutConfiguration(concurrency=16)

    def complete(context, question):
        run = library.create_environment_context(config)
        subcalls = library.OpenAICompatSubcallClient(context=run, max_parallel=16, **settings)
        root = library.OpenAICompatClient(**settings)
        environment = library.create_environment(config, context=context, registry=None, subcalls=subcalls,
                                                 execution_context=run)
        result = library.run_rlm(question, environment=environment, root_llm=root, subcalls=subcalls, context=run,
                                 config=library.RLMConfig(budget=budget, root_model=MODEL, rollout=rollout))
        if not result.answer and result.error:
            raise RuntimeError(result.error)
        return result.answer

    return complete


def minrlm(url, turns, depth, limits):
    import minrlm as library
    engine = library.RLM(MODEL, base_url=url, api_key=KEY,
                         **{"max_iterations": turns, "max_sub_llm_calls": MANY, **limits})

    def complete(context, question):
        answer = engine.completion(task=question, context=context)
        return getattr(answer, "response", answer)

    return complete


def recursive_llm(url, turns, depth, limits):
    import rlm
    engine = rlm.RLM(model=f"openai/{MODEL}", api_base=url, api_key=KEY,
                     **{"max_iterations": turns, "max_depth": depth, "max_concurrent_subcalls": 16,
                        "repl_timeout": 600, **limits})
    return lambda context, question: engine.complete(query=question, context=context)


ENGINES = {"rlms": rlms, "dspy-local": dspy_local, "droste": droste, "minrlm": minrlm,
           "recursive-llm": recursive_llm}


@functools.lru_cache(maxsize=1)
def text_of(path):
    return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")


@functools.lru_cache(maxsize=4)
def made(name, url, turns, depth, limits):
    return ENGINES[name](url, turns, depth, json.loads(limits))


def ask(name, line):
    complete = made(name, line["url"], line["turns"], line.get("depth", 1), json.dumps(line.get("limits", {})))
    try:
        return {"answer": str(complete(text_of(line["context"]), line["question"]))}
    except Exception as error:  # whatever the engine raises is what its user gets
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main():
    name, words = sys.argv[1], sys.argv[2:]
    out = os.fdopen(os.dup(1), "w")  # engines print
    os.dup2(2, 1)
    if words[:1] == ["once"]:
        said = ask(name, json.loads(words[1]))
        print(said.get("answer", ""), file=out, flush=True)
        if "error" in said:
            sys.exit(said["error"])
        return
    for line in sys.stdin:
        print(json.dumps(ask(name, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":  # recursive-llm starts this file again in its workers
    main()
