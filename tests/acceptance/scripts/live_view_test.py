#!/usr/bin/env python3
"""The live view of `ask` in a real terminal emulator, tmux: REC-75, and REC-78's question beside it."""

import re
import shlex
import subprocess
import time

import harness

CHILDREN = 24
BATCH = f"```repl\nr = rlm_query_batched(['child number %d' % i for i in range({CHILDREN})])\nprint(len(r))\n```"
# A tree whose requests take so long that the view is seen at work.
TREE = [{"purpose": "root", "path": "0", "turn": 1, "reply": BATCH},
        {"purpose": "root", "path": "0", "reply": "FINAL: all done"},
        {"purpose": "root", "turn": 1, "delay": "300ms", "reply": "```repl\nprint(llm_query('a'))\n```"},
        {"purpose": "root", "delay": "300ms", "reply": "```repl\nFINAL('of a child')\n```"},
        {"purpose": "subcall", "delay": "300ms", "reply": "leaf"}]
SECONDS = re.compile(r"(?:^|  )(\d+) s(?:  |$)")


class LiveViewTest(harness.Case):
    def tmux(self, *words: str) -> str:
        return subprocess.run(["tmux", "-L", self.home.name, "-f", "/dev/null", *words], env=self.env,
                              check=True, capture_output=True, text=True).stdout

    def show(self, columns: int, rows: int, replies: list, *words: str):
        """Runs a question in a window; behind its end the window says so and waits."""
        self.env["TERM"] = "xterm-256color"
        line = [harness.DOSSIER, "ask", *self.script(replies), "--mode", "recursive", "--forcing", "none",
                "--max-depth", "2", "--concurrency", "8", "--context-text", "abc", *words, "Which?"]
        self.addCleanup(lambda: subprocess.run(["tmux", "-L", self.home.name, "kill-server"], env=self.env,
                                               capture_output=True, check=False))
        self.view = f"view{columns}x{rows}"
        self.tmux("new-session", "-d", "-s", self.view, "-x", str(columns), "-y", str(rows),
                  f"env TERM=screen-256color {shlex.join(line)}; echo ended; read line")

    def screen(self, *options: str) -> list[str]:
        return self.tmux("capture-pane", "-p", *options, "-t", self.view).rstrip("\n").split("\n")

    def wait_for(self, seen, limit: float = 90) -> list[str]:
        """The first screen that `seen` is true of."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            screen = self.screen()
            if seen(screen):
                return screen
            time.sleep(0.02)  # tmux tells nobody that a window has changed
        self.fail("never seen; the last screen:\n" + "\n".join(screen))

    @staticmethod
    def holds(text: str):
        return lambda screen: any(text in line for line in screen)

    def test_the_seconds_go_on_while_nothing_happens(self):
        self.show(100, 24, [{"purpose": "root", "delay": "60s", "reply": "FINAL: done"}])
        for seconds in (1, 2, 3):
            self.wait_for(lambda screen, least=seconds: any(
                int(found[1]) >= least for line in screen for found in [SECONDS.search(line)] if found))

    def test_at_three_widths_every_part_is_whole(self):
        whole = re.compile(r"turn \d+/\d+|\d+ child(ren)? at work, \d+ ended|\d+ in flight|\d+ calls?"
                           r"|[\d,]+ \+ [\d,]+ tokens|\$\d+\.\d{4}|\d+ s|scripted")
        for columns in (60, 100, 200):
            with self.subTest(columns=columns):
                self.show(columns, 24, TREE, "--price", "100/100", "--max-cost", "50")
                screen = self.wait_for(lambda screen: self.holds("at work")(screen) and self.holds("$")(screen))
                for part in next(line for line in screen if "at work" in line).split("  "):
                    self.assertTrue(whole.fullmatch(part), part)
                self.assertLessEqual(len([line for line in screen if line.startswith("  0.c")]), 8)
                self.wait_for(lambda screen: "ended" in screen)

    def test_a_low_window_holds_no_copies(self):
        self.show(80, 6, TREE)
        self.wait_for(self.holds("more"))
        self.wait_for(lambda screen: "ended" in screen)
        self.assertEqual([line for line in self.screen("-S", "-") if "at work" in line], [])

    def test_a_window_made_narrower_holds_no_remains(self):
        self.show(120, 24, TREE)
        self.wait_for(lambda screen: sum(len(line) > 45 for line in screen) > 4)
        self.tmux("resize-window", "-t", self.view, "-x", "40")
        self.wait_for(lambda screen: "ended" in screen)
        screen = self.screen()  # the terminal itself has put rows into its history
        self.assertEqual([line for line in screen if re.search(r"turn \d+/|0\.c\d", line)], [], "\n".join(screen))

    def test_a_question_about_money_stays_in_sight(self):  # REC-78
        self.show(160, 24, TREE, "--confirm-above", "10")  # the question takes one line
        questions = set()
        while True:
            screen = self.wait_for(lambda screen: "ended" in screen or any(
                line.endswith("[y/N]") and line not in questions for line in screen))
            if "ended" in screen:
                break
            for _ in range(10):  # while children are at work
                time.sleep(0.05)
                self.assertTrue(self.screen()[-1].endswith("[y/N]"), "\n".join(self.screen()))
            questions.add(self.screen()[-1])
            self.assertTrue(self.screen()[-1].startswith("The run comes to "), self.screen()[-1])
            self.tmux("send-keys", "-t", self.view, "y", "Enter")
        self.assertGreaterEqual(len(questions), 3, questions)
        self.assertEqual(self.runs()[0]["status"], "final")


if __name__ == "__main__":
    harness.main()
