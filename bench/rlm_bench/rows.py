"""Our tasks in the shapes that RLM-Bench reads, and its results beside our scores. Pure functions; no package needed.

    found = rows_of(tasks, read_context)       # {"official_oolong": {"rows": […], "ids": […]}, …}
    table = beside(results, ids, our_rows)     # a line a runner and task

RLM-Bench draws the sample of a run by a seed, so the order of the rows says which of our tasks a result is of.
"""

import ast
import random
from collections.abc import Callable

# Its task, the folder that it reads below the data folder, and the split in it.
SHAPES = {"official_oolong": ("oolong", "test"), "official_longbench_v2": ("longbench_v2", "train"),
          "official_sniah": ("ruler_full_mirror", "validation"), "official_repoqa": ("repoqa", "")}
FLAWS = ("it gives the windows of OOLONG with their gold labels (here: without, but for --with-labels)",
         "it takes the first number of a reply, or the first lone A to D anywhere",
         "a function's name anywhere in a reply counts as found",
         "its own engine runs with low effort where others get what the model does by itself")


def printed(gold: list[str], answer_type: str) -> str:
    """The list as the published set prints it: ['ham'], [28], [datetime.date(2023, 1, 6)]."""
    if answer_type.endswith("NUMERIC"):
        return f"[{int(gold[0])}]"
    return repr([str(text) for text in gold])


def oolong_row(task: dict, plain: str, shown: str) -> dict:
    meta = task["meta"]
    return {"id": task["id"], "context_len": meta["context_len"], "dataset": task["family"], "context_window_text": plain,
            "context_window_text_with_labels": shown, "question": task["question"], "task_group": meta["task_group"],
            "task": meta["task"], "answer": printed(task["gold"], meta["answer_type"]), "answer_type": meta["answer_type"],
            "input_subset": "False", "num_labels": meta["num_labels"], "context_window_id": task["window"]}


def ruler_row(task: dict, context: str) -> dict:
    return {"category": task["meta"]["task"], "prompt": f"{context.rstrip()}\n\n{task['question']}",
            "extra_info": {"ground_truth": {"answers": [str(one) for one in task["gold"]]}}}


def choice_row(task: dict, context: str) -> dict:
    """Four choices stand in the question as `(A) …` lines."""
    question, choices = [], {}
    for line in task["question"].splitlines():
        head, _, rest = line.strip().partition(") ")
        if rest and head.startswith("(") and head[1:] in "ABCD":
            choices[head[1:]] = rest
        elif not choices:
            question.append(line)
    return {"_id": task["id"], "domain": task["family"], "sub_domain": task["window"], "question": "\n".join(question).strip(),
            **{f"choice_{name}": choices.get(name, "") for name in "ABCD"}, "answer": task["gold"][0], "context": context}


def repo_row(task: dict, context: str) -> dict:
    return {"id": task["id"], "repo": task["window"], "language": "", "question": task["question"], "context": context,
            "answer": [str(one) for one in task["gold"]]}


def rows_of(tasks: list[dict], read_context: Callable[[dict], str], read_labelled: Callable[[dict], str] | None = None) -> dict:
    """The rows of each of its tasks that our set has something for. `read_labelled`: windows with labels, as upstream."""
    found: dict = {}
    for task in tasks:
        context = read_context(task)
        if task["scorer"] == "oolong":
            name, row = "official_oolong", oolong_row(task, context, read_labelled(task) if read_labelled else context)
        elif task["scorer"] == "ruler" and task["meta"]["task"].startswith("niah_single"):
            name, row = "official_sniah", ruler_row(task, context)
        elif task["scorer"] == "choice":
            name, row = "official_longbench_v2", choice_row(task, context)
        elif task["family"] == "code":
            name, row = "official_repoqa", repo_row(task, context)
        else:
            continue
        found.setdefault(name, {"rows": [], "ids": []})
        found[name]["rows"].append(row)
        found[name]["ids"].append(task["id"])
    return found


def task_of(result: dict, ids: dict) -> str:
    """Which of our tasks a result of RLM-Bench is of: it draws one by the seed, as Python does."""
    known = ids[result["task_name"]]
    return known[random.Random(result["task_instance_seed"]).randrange(len(known))]


def beside(results: list[dict], ids: dict, ours: dict) -> list[dict]:
    """A line a runner and task: its accuracy and partial score, and the mean of our official and lenient scores.

    `ours`: (runner, task id, response) to {"official", "lenient"}.
    """
    groups: dict = {}
    for result in results:
        groups.setdefault((result["runner_name"], result["task_name"]), []).append(result)
    lines = []
    for (runner, name), group in sorted(groups.items()):
        scores = [ours.get((runner, task_of(result, ids))) for result in group]
        scores = [one for one in scores if one is not None]
        mean = lambda values: round(100 * sum(values) / len(values), 1) if values else None
        lines.append({"runner": runner, "task": name, "samples": len(group),
                      "accuracy": mean([bool(result["correct"]) for result in group]),
                      "partial": mean([result["partial_score"] for result in group]),
                      "official": mean([one["official"] for one in scores]),
                      "lenient": mean([one["lenient"] for one in scores]),
                      "failed": sum(result["error"] is not None for result in group)})
    return lines


def is_printed(answer: str) -> bool:
    """Whether an answer is a list as Python prints it, which is how RLM-Bench reads it."""
    try:
        return isinstance(ast.literal_eval(answer), list)
    except (SyntaxError, ValueError):
        return False
