#!/usr/bin/env python3
"""Images for sub-calls over several processes: what is fetched, what is kept, what a run that goes on uses
(REC-50, REC-69). tests/acceptance/recursion/media.yaml has what one run shows."""

import base64
import json
import os
import unittest

import harness

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
CODE = "```repl\nprint(llm_query('What is drawn?', media='plan'))\n```"


class AskMediaTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("note.txt", "abc\n")
        self.shown = []   # the images that arrived
        self.server = self.serve(self.reply)
        folder = self.home / "config/dossier"
        folder.mkdir(parents=True)
        (folder / "dossier.yml").write_text("models: {data: [models.yaml]}\n")
        (folder / "models.yaml").write_text(json.dumps({"schema": "dossier.models/1", "models": [
            {"name": "seer", "provider": "openai", "window": 100000, "max_output": 1000, "image": {"tokens": 100, "as_of": "2026-11-22", "source": "a test"},
             "as_of": "2026-11-22", "source": "a test"}]}))

    def reply(self, handler, body: dict):
        content = body["messages"][-1]["content"]
        if isinstance(content, list) and content[0]["type"] == "image_url":
            self.shown.append(content[0]["image_url"]["url"])
            return harness.reply(handler, body, "a line")
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        return harness.reply(handler, body, "FINAL(a line)" if turns > 1 else CODE)

    def ask(self, *words: str):
        return self.run_to_end("ask", "--base-url", self.server.url, "-m", "seer", "--retries", "0", "--mode", "recursive",
                               "--temperature", "0", "--json", "-c", "note.txt", *words, "What is drawn?")

    def test_an_address_is_fetched_once_and_not_what_it_leads_to(self):  # REC-50
        pages = self.serve(lambda handler, body: harness.send(
            handler, 302 if handler.path.endswith("moved") else 200, PNG, "text/html",
            [("Location", "http://127.0.0.1:9/private.png")]))
        code, out, err = self.ask("--media", f"plan={pages.url}/plan")
        self.assertEqual((code, json.loads(out)["answer"]), (0, "a line"), err)
        self.assertEqual(len(pages.requests), 1)
        self.assertEqual(self.shown, ["data:image/png;base64," + base64.b64encode(PNG).decode()])
        code, _, err = self.ask("--media", f"plan={pages.url}/moved")
        self.assertEqual(code, 8, err)
        self.assertIn("leads to http://127.0.0.1:9/private.png; name that address", err)
        self.assertEqual((len(pages.requests), len(self.shown)), (2, 1), "nothing was sent")

    def test_an_image_that_was_cut_off_is_refused(self):  # REC-50
        self.write("trunc.png", PNG[:20])
        code, _, err = self.ask("--media", "plan=trunc.png")
        self.assertEqual(code, 4, err)
        self.assertIn("trunc.png is damaged: its width and height cannot be read", err)
        self.assertEqual(self.server.requests, [])

    def test_what_is_no_file_is_not_waited_for(self):  # REC-50
        pipe = self.home / "pipe"
        os.mkfifo(pipe)
        for place in (str(pipe), "/dev/zero"):
            code, _, err = self.ask("--media", f"plan={place}")
            self.assertEqual(code, 2, err)
            self.assertIn(f"{place} is no regular file", err)

    def test_a_run_that_goes_on_has_the_images_that_it_had(self):  # REC-50, REC-69, REC-70
        path = self.write("plan.png", PNG)
        code, out, err = self.ask("--media", "plan=plan.png")
        self.assertEqual(code, 0, err)
        self.write("plan.png", "no image any more")
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 0, out + err)
        code, out, err = self.run_to_end("runs", "fork", "last", "--at", "0", "--json")
        self.assertEqual((code, json.loads(out)["answer"]), (0, "a line"), err)
        self.assertEqual(len(self.shown), 1, "the reply to the same image is kept")
        other = PNG[:-1] + b"\x83"
        self.write("plan.png", other)
        code, out, err = self.ask("--media", "plan=plan.png")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.shown[1:], ["data:image/png;base64," + base64.b64encode(other).decode()])
        self.assertTrue(path.endswith("plan.png"))


if __name__ == "__main__":
    harness.main()
