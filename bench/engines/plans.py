"""What the scripted model writes, in the dialect of each engine: the same work for all of them."""

import dataclasses

from engines.model_server import CHILD_QUESTION, Plan


@dataclasses.dataclass(frozen=True)
class Dialect:
    reply: str     # {code} stands where the code goes
    final: str     # code that hands the answer in; {value} is an expression
    context: str   # the name of the text
    sub: str       # one sub-call; {prompt} is an expression
    batch: str     # many at once; {prompt} is an expression over `i`, {count} how many
    children: str = ""    # the same with children that have turns of their own; "": it has none
    whole_final: str = ""  # a reply that is an answer, where code cannot hand one in


_FENCED = "```{0}\n{{code}}\n```"
_BATCH = "replies = llm_query_batched([{prompt} for i in range({count})])"
_READY = "answer['content'] = {value}\nanswer['ready'] = True"
DIALECTS = {
    "dossier": Dialect(_FENCED.format("repl"), "FINAL({value})", "context", "llm_query({prompt})", _BATCH,
                       "replies = rlm_query_batched([{prompt} for i in range({count})], context=doc[0:2000])"),
    # The same without ever making the text a string.
    "dossier-doc": Dialect(_FENCED.format("repl"), "FINAL({value})", "doc", "llm_query({prompt})", _BATCH),
    "rlms": Dialect(_FENCED.format("repl"), _READY, "context", "llm_query({prompt})", _BATCH,
                    "replies = rlm_query_batched([{prompt} for i in range({count})])"),
    "dspy-local": Dialect("[[ ## reasoning ## ]]\nThe next step.\n\n[[ ## code ## ]]\n```python\n{code}\n```\n\n"
                          "[[ ## completed ## ]]", "SUBMIT({value})", "context", "llm_query({prompt})", _BATCH),
    "droste": Dialect(_FENCED.format("python"), _READY, "context", "llm_query({prompt})", _BATCH),
    # Its own command puts files into a dictionary.
    "droste-command": Dialect(_FENCED.format("python"), _READY, "context['files'][0]['text']", "llm_query({prompt})", _BATCH),
    "minrlm": Dialect(_FENCED.format("python"), "FINAL({value})", "input_0", "sub_llm({prompt}, '')",
                      "replies = sub_llm_batch([({prompt}, '') for i in range({count})])"),
    "recursive-llm": Dialect("{code}", "", "context", "recursive_llm({prompt}, 'one')", "", "",
                             'FINAL("line")'),
}


def of_command(engine: str) -> str:
    """The dialect of an engine whose own command is run."""
    return "droste-command" if engine == "droste" else engine


class Unable(Exception):
    """An engine has nothing for this work; the text says what."""


def _reply(dialect: Dialect, code: str) -> str:
    return dialect.reply.format(code=code)


def _last(dialect: Dialect) -> str:
    if dialect.whole_final:
        return dialect.whole_final
    return _reply(dialect, dialect.final.format(value=f"{dialect.context}[:200].split()[0]"))


def turns(engine: str, count: int, variables: int = 0) -> Plan:
    """Cells that look at the text; `variables` names are made in the first."""
    dialect = DIALECTS[engine]
    cells = [f"print({turn}, len({dialect.context}))" for turn in range(count - 1)]
    if variables and cells:
        cells[0] = "\n".join(f"v{number} = {number}" for number in range(variables))
    return Plan([_reply(dialect, cell) for cell in cells] + [_last(dialect)])


def sub_calls(engine: str, count: int, size: int) -> Plan:
    """One cell that asks `count` sub-calls, one behind the other, of about `size` bytes each."""
    dialect = DIALECTS[engine]
    prompt = f"str(i) + {dialect.context}[:{max(1, size - 3)}]"
    code = f"for i in range({count}):\n    r = {dialect.sub.format(prompt=prompt)}\nprint(r)"
    return Plan([_reply(dialect, code), _last(dialect)])


def batch(engine: str, count: int, delay: float) -> Plan:
    dialect = DIALECTS[engine]
    if not dialect.batch:
        raise Unable("it has no call for many sub-calls at once")
    code = dialect.batch.format(prompt="'Is ' + str(i) + ' a number?'", count=count)
    return Plan([_reply(dialect, code + "\nprint(len(replies), replies[0])"), _last(dialect)], delay=delay)


def children(engine: str, count: int, delay: float) -> Plan:
    dialect = DIALECTS[engine]
    if not dialect.children:
        raise Unable("its sub-calls have no turns of their own")
    code = dialect.children.format(prompt=f"'{CHILD_QUESTION} ' + str(i)", count=count)
    child = _reply(dialect, dialect.final.format(value=f"str({dialect.context})[:200].split()[0]"))
    # A child whose question is its context sends it in no request: what is not the root's is a child's.
    return Plan([_reply(dialect, code + "\nprint(len(replies), replies[0])"), _last(dialect)], child=child, sub=child, delay=delay)


DRAFT = "line"  # what stands as an answer when a limit comes


def stubborn(engine: str, fails: str, root_delay: float) -> Plan:
    """A model that has an answer in its first turn, says so where it can, and goes on for good.

    Each cell asks one sub-call. `fails`: code that raises, or "".
    """
    dialect = DIALECTS[engine]
    draft = {"answer['content'] = 'line'": engine in ("dossier", "rlms", "droste")}
    cell = "\n".join([code for code, known in draft.items() if known]
                     + [f"print(len({dialect.context}), {dialect.sub.format(prompt=repr('Is it long?'))})"]
                     + ([fails] if fails else []))
    return Plan([_reply(dialect, cell)], sub=DRAFT, root_delay=root_delay)


def busy(engine: str, count: int, code: str) -> Plan:
    """Turns that compute, for what a resume has to play again."""
    dialect = DIALECTS[engine]
    return Plan([_reply(dialect, code.format(turn=turn)) for turn in range(count - 1)] + [_last(dialect)])
