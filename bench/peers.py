#!/usr/bin/env python3
"""One completion of rlms and of droste with a model that answers at once, in process.

usage: peers.py rlms|droste [COUNT]      (run by the interpreter of the private environment)

The model's reply is the same kind of cell that `dossier_bench engine` runs: it takes the first word
of the same text. Neither peer isolates the code. Prints one line of JSON, as dossier_bench does.
"""

import contextlib
import io
import json
import statistics
import sys
import time

TEXT = "".join(f"line {i} of a text without much in it\n" for i in range(2000))
QUESTION = "Which word comes first?"


def rlms_completion():
    from rlm.clients.base_lm import BaseLM
    from rlm.core import rlm
    from rlm.core.types import ModelUsageSummary, UsageSummary

    class Instant(BaseLM):
        def completion(self, prompt):
            return "```repl\nanswer['content'] = context.split()[0]\nanswer['ready'] = True\n```"

        async def acompletion(self, prompt):
            return self.completion(prompt)

        def get_usage_summary(self):
            return UsageSummary({self.model_name: self.get_last_usage()})

        def get_last_usage(self):
            return ModelUsageSummary(1, 1, 1)

    rlm.get_client = lambda backend, kwargs: Instant(model_name="instant")
    engine = rlm.RLM(backend="openai", backend_kwargs={"model_name": "instant"})
    return lambda: engine.completion(TEXT, root_prompt=QUESTION).response


def droste_completion():
    import droste
    from droste.protocols.llm_client import TokenUsage
    from droste.testing import MockSubcallClient

    class Instant:
        def responses_create(self, messages, model, max_tokens=4096, temperature=None,
                             return_usage=False):
            text = "```python\nanswer['content'] = context.split()[0]\nanswer['ready'] = True\n```"
            return (text, TokenUsage(1, 1, 2, exact=True)) if return_usage else text

        def get_model_context_window(self, model):
            return None

    def complete():
        config = droste.EnvironmentConfig(kind="native")
        subcalls = MockSubcallClient()
        run = droste.create_environment_context(config)
        environment = droste.create_environment(config, context=TEXT, registry=None,
                                                subcalls=subcalls, execution_context=run)
        return droste.run_rlm(QUESTION, environment=environment, root_llm=Instant(),
                              subcalls=subcalls, context=run).answer

    return complete


def main() -> int:
    peer = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    complete = {"rlms": rlms_completion, "droste": droste_completion}[peer]()
    times = []
    for turn in range(count + 1):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            started = time.perf_counter()
            answer = complete()
            elapsed = time.perf_counter() - started
        if answer != "line":
            print(f"{peer} answered {answer!r}: {said.getvalue()[-400:]}", file=sys.stderr)
            return 1
        if turn:  # the first pays for imports
            times.append(elapsed)
    print(json.dumps({"name": f"{peer}.completion", "median": statistics.median(times),
                      "min": min(times), "runs": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
