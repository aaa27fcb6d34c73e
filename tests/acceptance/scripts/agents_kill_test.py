#!/usr/bin/env python3
"""`dossier agents run` killed at random points, then resumed: nothing is lost or done twice.

$DOSSIER_TEST_KILLS is the number of kills (6), $DOSSIER_TEST_SEED draws other points.
"""

import collections
import os
import random
import signal
import subprocess
import time

import agents_case
import harness

KILLS = int(os.environ.get("DOSSIER_TEST_KILLS", "6"))
SEED = int(os.environ.get("DOSSIER_TEST_SEED", "45"))
TASKS = 4


class Kills(agents_case.AgentsCase):
    def one_round(self, wait: float, number: int) -> str:
        """A run over fresh tasks, killed after `wait`, then resumed; returns what it met."""
        self.tasks(*[{"id": f"r{number}-{n}", "summary": "x"} for n in range(TASKS)])
        self.git("add", "config")
        self.git("commit", "-qm", f"tasks {number}")
        begun = len(self.logs())
        run = self.start("--trust-config", "agents", "run", *self.CONFINE, "--workers", "2",
                         cwd=self.repo)
        try:
            run.wait(wait)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
        run.communicate()
        if len(self.logs()) == begun or not self.log()[-1:]:
            code, out, err = self.run_agents("--workers", "2")
            met = "before the log"
        elif self.log()[-1]["event"] == "run.finished":
            return "after the end"
        else:
            met = self.log()[-1]["event"]
            code, out, err = self.dossier("resume")
        self.assertEqual(code, 0, (number, met, out, err))
        return met

    def test_every_kill_is_survived(self):  # REP-45, REP-46, REP-51
        self.put("agent_notes/scratch/a.md", "x")
        self.commit()
        chance = random.Random(SEED)
        began = time.monotonic()
        self.assertEqual(self.run_agents()[0], 0)
        whole = (time.monotonic() - began) * TASKS
        met = collections.Counter()
        for number in range(KILLS):
            met[self.one_round(chance.uniform(0.02, whole), number)] += 1
            self.assert_consistent(1 + TASKS * (number + 1))
            merged = {task for log in self.logs()
                      for task, line in self.results(log).items() if line["status"] == "merged"}
            self.assertEqual(len(merged), 1 + TASKS * (number + 1))
            if number % 20 == 19:
                print(number + 1, dict(met), flush=True)
        print(dict(met))


if __name__ == "__main__":
    harness.main()
