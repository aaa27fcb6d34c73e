#!/usr/bin/env python3
"""The scoreboard of sandboxes in small: its verdicts on engines that are played, its control, its jail, and ours behind it.
EVL-85 to EVL-89, EVL-E1 to EVL-E8, EVL-A19. The whole of it, with engines of others, is bench/sandbox/run."""

import concurrent.futures
import pathlib
import sys
import unittest

import harness

BOARD = pathlib.Path(__file__).resolve().parents[3] / "bench/sandbox"
sys.path.insert(0, str(BOARD))

import engines  # noqa: E402 (found by the line above)
import jail  # noqa: E402
import scoreboard  # noqa: E402

COLUMNS = {column.name: column for column in (*engines.COLUMNS, *engines.FAKES)}
# One or two of most groups. Bombs and loops take their time, and JavaScript wants node for its control: the whole run has them.
SMALL = ("E1.1", "E2.1", "E2.5", "E3.5", "E4.6", "E5.2", "E5.8", "E8.2")


def tried(pairs: list) -> list[dict]:
    places = scoreboard.Places(harness.DOSSIER, pathlib.Path("/nonexistent"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda pair: scoreboard.attempt_once(*pair, places), pairs))


class ScoreboardTest(unittest.TestCase):
    def setUp(self):
        self.attempts = {attempt["id"]: attempt for attempt in scoreboard.load_attempts(BOARD / "attempts.yml")}

    def test_the_list_has_fifty_attempts_in_eight_groups(self):  # EVL-85, EVL-E1 EVL-E2 EVL-E3 EVL-E4 EVL-E5 EVL-E6 EVL-E7 EVL-E8
        groups = [name.split(".")[0] for name in self.attempts]
        self.assertEqual({group: groups.count(group) for group in groups},
                         {"E1": 7, "E2": 9, "E3": 5, "E4": 7, "E5": 8, "E6": 9, "E7": 3, "E8": 2})
        import ast
        for attempt in self.attempts.values():
            self.assertTrue(attempt["cell"] and attempt["oracle"], attempt)
            if attempt.get("language", "python") == "python":
                ast.parse(attempt["cell"].replace("$MARK$", "''").replace("$DRAWN$", "''").replace("$TCP$", "1")
                          .replace("$UDP$", "1").replace("$PORT$", "1"))

    def test_each_verdict_is_given_to_the_engine_that_earns_it(self):  # EVL-86, EVL-87, EVL-A19
        attempt = self.attempts["E2.5"] | {"limit": 0.5, "patience": 0.5, "give_up": 3}
        rows = tried([(attempt, column) for column in engines.FAKES])
        self.assertEqual([(row["column"], row["verdict"]) for row in rows],
                         [(column.name, column.name.removeprefix("fake ")) for column in engines.FAKES], rows)
        (row,) = tried([(self.attempts["E7.1"], COLUMNS["fake refused"])])
        self.assertEqual(row["verdict"], "not applicable")

    def test_the_control_gets_through_and_ours_does_not(self):  # EVL-88, EVL-89, EVL-A19
        names = ("control", "dossier", "dossier without namespaces")
        rows = tried([(self.attempts[name], COLUMNS[column]) for column in names for name in SMALL])
        control = {row["attempt"]: (row["verdict"], row["why"]) for row in rows if row["column"] == "control"}
        self.assertEqual({verdict for verdict, _ in control.values()}, {"through"}, control)
        ours = [row for row in rows if row["column"] != "control"]
        self.assertEqual([row for row in ours if row["verdict"] != "refused"], [])

    def test_what_the_control_cannot_do_is_void(self):  # EVL-88
        rows = [{"attempt": "E1.1", "column": "control", "verdict": "ended"},
                {"attempt": "E1.1", "column": "dossier", "verdict": "refused", "recovery": 0.001},
                {"attempt": "E1.2", "column": "control", "verdict": "through"},
                {"attempt": "E1.2", "column": "dossier", "verdict": "refused", "recovery": 0.2}]
        judged = scoreboard.judge_void(rows)
        self.assertEqual([row["verdict"] for row in judged], ["void", "void", "through", "refused"])
        faults = scoreboard.faults_of_ours(judged)  # EVL-89
        self.assertEqual(len(faults), 2, faults)
        self.assertIn("the next cell took 200 ms", faults[1])
        board = scoreboard.summary(judged, {"dossier": "1"})
        self.assertEqual(board["columns"][1]["verdicts"]["void"], 1)
        self.assertIn("| E1.1 | x | void |", scoreboard.page(board, [{"id": "E1.1", "name": "x"}], "today"))

    def test_the_outer_jail_bounds_everything(self):  # EVL-88
        code = ("import os, sys, time, resource\nsys.path.insert(0, '/opt/board')\nimport jail\n"
                "def writes(path):\n"
                "    try:\n        open(path, 'wb').close(); return True\n    except OSError:\n        return False\n"
                "shared = writes('/opt/board/written')\n"
                "if os.fork():\n    os.wait(); sys.exit()\n"
                "jail.become_subject(25)\n"
                "made = 0\n"
                "for _ in range(60):\n"
                "    try:\n        pid = os.fork()\n    except OSError:\n        break\n"
                "    if pid == 0:\n        time.sleep(30); os._exit(0)\n"
                "    made += 1\n"
                "def fills():\n"
                "    try:\n        open('/tmp/x', 'wb').write(b'x' * (9 << 20))\n    except OSError:\n        return True\n"
                "print(made, shared, [p for p in ('/usr/x', '/etc/x', '/opt/board/x', '/x') if writes(p)], fills(),\n"
                "      os.path.exists('/root'), sorted(os.listdir('/home')), os.getuid() == 0,\n"
                "      len(open('/proc/net/dev').readlines()), flush=True)\n"
                "os.kill(os.getppid(), 9)\n")
        plan = jail.Plan(words=[engines.PYTHON, "-I", "-B", "-c", code], binds={"/opt/board": str(BOARD)}, processes=60,
                         disk=8 << 20, seconds=10)
        with jail.Jail(plan) as one:
            _, out, err = one.wait()
        made, rest = out.split(" ", 1)
        self.assertLess(int(made), 26, err)
        self.assertEqual(rest.strip(), "False [] True False [] False 3", err)


if __name__ == "__main__":
    harness.main()
