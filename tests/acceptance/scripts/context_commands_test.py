#!/usr/bin/env python3
"""Context commands as processes: what they may cost in time and memory, and what stays of them."""

import json
import os
import pathlib
import subprocess

import harness

CAP = 65536  # max_output, bytes
ROUNDS = 5   # a busy machine may spoil some of them


class Commands(harness.Case):
    def configure(self, commands: list) -> None:
        path = self.home / "config" / "dossier" / "dossier.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"context_commands": commands}), "utf-8")  # JSON is YAML
        path.chmod(0o600)

    def peak(self, *words: str) -> tuple[int, str]:
        """(bytes of the largest process, stdout) of a command that ends well."""
        with open(self.home / "out", "w+", encoding="utf-8") as out:
            process = self.start(*words, stdout=out, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            out.seek(0)
            return usage.ru_maxrss * 1024, out.read()

    def test_fifty_outputs_of_50_mb_stay_below_the_caps(self):  # CON-P8 CON-23 CON-D14
        def run(line: str) -> tuple[int, str]:
            self.configure([{"name": f"c{n}", "command": line, "timeout": 600} for n in range(50)])
            return self.peak("context", "run", "--context-timeout", "600")

        small, _ = run("echo small")
        large, out = run("yes line of text | head -c 50000000")
        self.assertEqual(out.count(" of 50,000,000 cut by max_output of c"), 50)
        self.assertLessEqual(len(out), 50 * (CAP + 200))
        if not harness.is_sanitized(harness.DOSSIER):
            self.assertLessEqual(large - small, 50 * CAP + (16 << 20))

    def marked(self) -> list[str]:
        """Words of every process that has this test's mark in its environment."""
        mark, found = f"MARK={self.home}".encode(), []
        for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environment.read_bytes():
                    found.append(environment.with_name("cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found

    def test_a_timeout_is_kept_to_and_leaves_nothing(self):  # CON-P4 CON-25 CON-D6
        lines = ["sleep 30", "sleep 30 & wait", "setsid sleep 30", "setsid sleep 30 & sleep 30"]
        self.configure([{"name": "twin", "command": "sleep 1"}] +
                       [{"name": line, "command": line, "timeout": 1} for line in lines])
        self.env["MARK"] = str(self.home)
        shares = []
        while len(shares) < ROUNDS and min(shares, default=9) > 1.2:
            code, out, err = self.run_to_end("context", "run", "--json")
            self.assertEqual((code, self.marked()), (0, []), err)
            twin, *limited = json.loads(out)["context"]
            self.assertEqual([c["outcome"] for c in limited], ["timeout"] * len(lines))
            # Both wait for a second; the twin pays for this machine's other work as they do.
            shares.append(max(c["duration_ms"] for c in limited) / twin["duration_ms"])
        self.assertLessEqual(min(shares), 1.2, shares)


if __name__ == "__main__":
    harness.main()
