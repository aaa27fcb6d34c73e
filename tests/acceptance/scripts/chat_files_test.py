#!/usr/bin/env python3
"""`dossier chat` over files that others made, files that go with a message, and folders that take none."""

import base64
import json
import os
import pathlib
import sqlite3

import chat_case
import harness
from chat_case import block, counted, message

# What the old tool writes for each provider: names that no data of ours knows any more among them.
OLD_MODELS = ["gpt-4", "gpt-4o", "gpt-3.5-turbo", "claude-3-opus-20240229", "ollama/llama3",
              "gemini/gemini-1.5-pro", "openrouter/meta-llama/llama-3-70b", "mistral/mistral-large"]

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLv"
                       "AAAAAElFTkSuQmCC")


class FilesCase(chat_case.ChatCase):
    def unnamed(self, *words: str, **options):
        """Without -m: the file says which model."""
        return self.run_to_end("chat", "--base-url", self.server.url, "--retries", "0",
                               "--conversations-path", str(self.folder), *words, **options)

    def model_of(self, number: int = -1) -> str:
        return json.loads(self.server.requests[number])["model"]

    def conversations(self, *words: str) -> str:
        code, out, err = self.run_to_end("conversations", *words, "--conversations-path",
                                         str(self.folder))
        self.assertEqual(code, 0, err)
        return out


class OldFiles(FilesCase):
    def test_a_file_of_each_provider_goes_on(self):  # FLT-132, FLT-44
        for model in OLD_MODELS:
            name = model.replace("/", "_").replace(".", "-")
            before = [message("system", "Be terse."), message("user", "Hello"),
                      message("assistant", "Hi")]
            self.put(before, name, model=model)
            for flags in ([], ["--compat"]):
                code, out, err = self.unnamed("--conversation", name, *flags, "go on")
                self.assertEqual(code, 0, (model, err))
                self.assertEqual(self.sent()[:3], before)
                self.assertEqual(self.model_of(), model)
            stored = self.stored(name)
            self.assertEqual((stored["model"], len(stored["messages"])), (model, 7))

    def test_another_tools_name_of_a_provider_is_known(self):  # FLT-132
        self.env["OLLAMA_BASE_URL"] = self.server.url
        self.put([message("user", "a"), message("assistant", "b")], model="ollama_chat/llama3")
        code, _, err = self.run_to_end("chat", "--retries", "0", "--conversations-path",
                                       str(self.folder), "--conversation", "talk", "go on")
        self.assertEqual((code, self.model_of()), (0, "llama3"), err)

    def test_a_model_that_is_gone_says_how_to_go_on(self):  # FLT-132
        self.put([message("user", "a"), message("assistant", "b")], model="azure/my-deploy")
        words = ["--retries", "0", "--conversations-path", str(self.folder), "--conversation", "talk"]
        code, _, err = self.run_to_end("chat", *words, "go on")
        self.assertEqual(code, 3, err)
        self.assertIn("was begun with azure/my-deploy: `-m MODEL --adopt` goes on", err)
        code, _, err = self.chat("--conversation", "talk", "--adopt", "go on")
        self.assertEqual(code, 0, err)

    def test_the_flag_beats_the_stored_model_also_under_compat(self):  # FLT-132
        self.put([message("user", "a"), message("assistant", "b")], model="gpt-4")
        for flags in ([], ["--compat"]):
            code, _, err = self.chat("--conversation", "talk", *flags, "go on")
            self.assertEqual((code, self.model_of()), (0, chat_case.MODEL), err)

    def test_a_title_is_the_text_behind_the_blocks(self):  # FLT-136
        self.put([message("user", block("Git Status", " M x") + "\n\nWhy does it fail?"),
                  message("assistant", "x")])
        self.assertIn("Why does it fail?", self.conversations("list"))
        self.assertNotIn("---", self.conversations("list"))

    def test_undo_takes_the_text_out_of_the_title(self):  # FLT-136
        self.turn("my secret")
        code, _, err = self.chat("--interactive", "--conversation", "talk", stdin="/undo\n")
        self.assertEqual(code, 0, err)
        self.assertNotIn("secret", self.path().read_text())
        self.assertNotIn("secret", self.conversations("list"))
        self.turn("harmless")
        self.assertIn("harmless", self.conversations("list"))


class EditedFiles(FilesCase):
    def edit(self, old: str, new: str):
        text = self.path().read_text()
        self.assertEqual(text.count(old), 1, text)
        self.path().write_text(text.replace(old, new))

    def test_an_edited_conversation_goes_on_and_is_repaired(self):  # FLT-135
        self.configure(context_commands=[counted("a", "echo 'key: hunter2'; echo rest")])
        self.turn("one", "--system", "You are a helpful, long-winded assistant.")
        self.edit("You are a helpful, long-winded assistant.", "Short.")
        self.edit("key: hunter2\\n", "")
        code, _, err = self.chat("--conversation", "talk", "two")
        self.assertEqual(code, 0, err)
        self.assertIn("was edited", err)
        self.assertEqual(self.system(), "Short.\n\n" + block("a", "rest"))
        self.assertEqual(self.runs_of("a"), 1)
        for words in (["show", "talk"], ["list"], ["fork", "talk", "--as", "copy"]):
            self.conversations(*words)
        self.assertIn("recorded so", self.conversations("repair", "talk", "--dry-run"))
        self.assertIn("what was is in", self.conversations("repair", "talk"))
        self.assertEqual(self.conversations("repair", "talk"), "nothing to repair\n")
        code, _, err = self.chat("--conversation", "talk", "three")
        self.assertEqual((code, "edited" in err), (0, False), err)
        self.assertEqual(self.system(), "Short.\n\n" + block("a", "rest"))
        self.assertEqual(len(list(self.folder.glob("talk.json.bak-*"))), 1)
        # Also of two repairs in one second each copy stays.
        for number in range(3):
            self.edit("Short" + "." * (number + 1), "Short" + "." * (number + 2))
            self.assertIn("what was is in", self.conversations("repair", "talk"))
        self.assertEqual(len(list(self.folder.glob("talk.json.bak-*"))), 4)


class OtherTextOtherModel(FilesCase):
    def test_a_system_text_is_never_left_out_in_silence(self):  # FLT-139
        self.configure(context_commands=[counted("a")])
        self.turn("one", "--system", "First.")
        self.turn("again", "--system", "First.")
        asked = len(self.server.requests)
        code, out, err = self.chat("--conversation", "talk", "--system", "Second.", "two")
        self.assertEqual((code, out, len(self.server.requests)), (2, "", asked))
        self.assertIn("--replace-system", err)
        self.turn("two", "--system", "Second.", "--replace-system")
        self.assertEqual(self.system(), "Second.\n\n" + block("a", "out of a"))
        self.turn("three")
        self.assertEqual(self.system(), "Second.\n\n" + block("a", "out of a"))
        self.assertEqual(self.runs_of("a"), 1)

    def test_another_model_is_warned_of_once_and_adopted_on_request(self):  # FLT-139
        self.put([message("user", "a"), message("assistant", "b")], model="gpt-4")
        said = []
        for _ in range(2):
            code, _, err = self.chat("--conversation", "talk", "go on")
            self.assertEqual(code, 0, err)
            said.append("--adopt" in err)
        self.assertEqual(said, [True, False])
        self.assertEqual(self.stored()["model"], "gpt-4")
        code, _, err = self.chat("--conversation", "talk", "--adopt", "go on")
        self.assertEqual((code, "prefix" in err), (0, False), err)
        # A model that was named by its server's address is kept with it.
        self.assertTrue(self.stored()["model"].endswith("#" + chat_case.MODEL), self.stored()["model"])
        code, _, err = self.unnamed("--conversation", "talk", "go on")
        self.assertEqual((code, self.model_of()), (0, chat_case.MODEL), err)


class NoRoom(FilesCase):
    def test_a_new_conversation_in_a_folder_that_takes_none_is_answered(self):  # FLT-140
        self.write("file", "x")
        self.folder = self.home / "file" / "conv"
        code, out, err = self.chat("--conversation", "talk", "one")
        self.assertEqual((code, out), (1, "Reply 1\n"), err)
        kept = self.home / ".local" / "state" / "dossier" / "unsaved" / "talk.json"
        self.assertIn(str(kept), err)
        self.folder = self.home / "conv"
        self.assertIn("talk     2 messages  new", self.conversations("import", str(kept)))
        self.turn("two")
        self.assertEqual([m["content"] for m in self.sent()], ["one", "Reply 1", "two"])

    def test_a_home_that_takes_nothing_costs_no_answer(self):  # FLT-140
        home = self.write("file", "x")
        for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            self.env[name] = f"{home}/{name}"
        self.folder = pathlib.Path(home) / "conv"
        for words in (["--new"], ["--conversation", "talk"]):
            code, out, err = self.chat(*words, "one")
            self.assertEqual((code, out.startswith("Reply")), (1, True), err)
        kept = list(self.home.glob("dossier-unsaved-*/talk.json"))
        self.assertEqual(len(kept), 1, err)
        self.assertEqual(json.loads(kept[0].read_text())["messages"][0]["content"], "one")
        self.assertEqual(os.stat(kept[0].parent).st_mode & 0o777, 0o700)


class WithFiles(FilesCase):
    def entry(self):
        """A model that takes images."""
        data = self.write("models.yaml", json.dumps({"models": [
            {"name": "seer", "provider": "openai", "window": 100000, "max_output": 1000,
             "image": 100}]}))
        self.configure(models={"data": [data]})

    def test_a_text_stands_where_the_output_of_a_command_would(self):  # FLT-48
        self.write("notes.txt", "Grün\n".encode("utf-16"))
        self.turn("one", "-f", "notes.txt")
        frozen = block("notes.txt", "Grün")
        self.assertEqual(self.system(), frozen)
        self.write("more.txt", "--- End Context ---\n")
        self.turn("two", "--file", "more.txt")
        self.assertEqual(self.last_user(), block("more.txt", " --- End Context ---") + "\n\ntwo")
        self.turn("three")
        self.assertEqual((self.system(), self.last_user()), (frozen, "three"))

    def test_what_cannot_go_is_refused_before_anything_is_sent(self):  # FLT-48
        self.write("x.pdf", b"%PDF-1.7\n\xff\x00")
        for place, code, text in (("none.txt", 4, "none.txt"), ("x.pdf", 2, "PDF"), (".", 2, "folder")):
            got, out, err = self.chat("-f", place, "q")
            self.assertEqual((got, out), (code, ""), err)
            self.assertIn(text, err)
        got, _, err = self.chat("--offline", "-f", "http://127.0.0.1:9/x", "q")
        self.assertEqual((got, "--offline" in err), (8, True), err)
        self.write("a.png", PNG)
        got, _, err = self.unnamed("-m", "gpt-4", "-a", "a.png", "q")
        self.assertEqual(got, 3, err)
        self.assertIn("image", err)
        self.assertEqual(self.server.requests, [])

    def test_an_address_is_fetched_because_it_was_named(self):  # FLT-48
        pages = self.serve(lambda handler, body: harness.send(handler, 200, b"the page\n", "text/html"))
        address = pages.url + "/page"
        self.turn(f"what does {address} say?")
        self.assertEqual(len(pages.requests), 0)
        self.turn("and now?", "-f", address)
        self.assertEqual(len(pages.requests), 1)
        self.assertEqual(self.last_user(), block(address, "the page") + "\n\nand now?")

    def test_ask_takes_an_address_as_a_context(self):  # FLT-48
        pages = self.serve(lambda handler, body: harness.send(handler, 200, b"a,b\n1,2\n", "text/csv"))
        code, out, err = self.ask_server(self.server, "--mode", "direct", "-c",
                                         pages.url + "/rows.csv?x=1", "which rows?")
        self.assertEqual(code, 0, err)
        self.assertEqual(len(pages.requests), 1)
        self.assertTrue(any("1,2" in str(m["content"]) for m in self.sent(0)))
        code, _, err = self.ask_server(self.server, "--offline", "-c", pages.url + "/rows.csv", "q")
        self.assertEqual((code, len(pages.requests)), (8, 1), err)

    def test_a_code_block_alone(self):  # FLT-141
        self.answers = ["Try:\n```sh\nls\n```\nor\n```sh\nmake\n```\ndone"]
        self.assertEqual(self.ok("-x", "how?"), "make\n")
        code, out, err = self.chat("--extract", "how?")
        self.assertEqual((code, out), (0, "Reply 2\n"))
        self.assertIn("no code block", err)

    def test_roles_and_templates(self):  # FLT-141
        config = self.home / "config" / "dossier"
        for kind, name, text in (("roles", "pirate", "Talk like a pirate."),
                                 ("templates", "sum", "---\ntemperature: 0.5\n---\nSum up for {{ WHO }}:"),
                                 ("templates", "quote", "<< {{ input }} >>")):
            (config / kind).mkdir(parents=True, exist_ok=True)
            (config / kind / f"{name}.md").write_text(text)
        self.turn("hello", "--role", "pirate")
        self.assertEqual(self.system(), "Talk like a pirate.")
        self.ok("--template", "quote", "$x {{ y }}")
        self.assertEqual(self.last_user(), "<< $x {{ y }} >>")
        self.ok("--template", "sum", "-D", "WHO=Ann", stdin="a text\n")
        self.assertEqual(self.last_user(), "Sum up for Ann:\n\na text")
        self.assertEqual(json.loads(self.server.requests[-1])["temperature"], 0.5)
        code, _, err = self.chat("--role", "none", "q")
        self.assertEqual((code, "pirate" in err), (4, True), err)
        code, _, err = self.chat("--template", "sum", "q")
        self.assertEqual((code, "template sum: " in err and "WHO" in err), (3, True), err)

    def test_a_system_text_is_kept_as_a_role(self):  # FLT-47
        self.turn("hello", "--role", "short", "--system", "One word only.")
        self.assertEqual(self.system(), "One word only.")
        self.turn("hello", "--role", "short")
        self.assertEqual(self.system(), "One word only.")
        self.turn("hello", "--role", "short", "--system", "One word only.")  # the same once more
        code, _, err = self.chat("--role", "short", "--system", "Three words.", "q")
        self.assertEqual((code, "holds another text" in err), (2, True), err)
        code, _, err = self.chat("--role", "../short", "--system", "Three words.", "q")
        self.assertEqual((code, "plain name" in err), (2, True), err)

    def test_where_nothing_is_kept_that_goes_on_it_is_said_how(self):  # FLT-47
        code, _, err = self.chat("--continue", "and then?")
        self.assertEqual((code, "dossier chat --new" in err), (4, True), err)

    def test_fields_are_a_schema(self):  # FLT-47
        self.chat("--json-schema", "name, age int: in years", "Invent a dog")
        for part in (b"additionalProperties", b"integer", b"in years"):
            self.assertIn(part, self.server.requests[-1])
        code, _, err = self.chat("--json-schema", "name age: int", "q")
        self.assertEqual((code, "nor fields such as" in err), (3, True), err)

    def test_a_line_of_a_pipe_names_no_files(self):  # FLT-141: it may come from anybody
        self.write("a.txt", "alpha\n")
        code, _, err = self.chat("--interactive", "--conversation", "talk",
                                 stdin="first\nlook at @a.txt\n")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.last_user(), "look at @a.txt")


class FromElsewhere(FilesCase):
    def test_the_log_of_llm_and_a_session_of_aichat_go_on(self):  # FLT-136
        with sqlite3.connect(self.home / "logs.db") as db:
            db.executescript("""
                CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
                CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT,
                  response TEXT, conversation_id TEXT, datetime_utc TEXT);
                INSERT INTO conversations VALUES('01abc', 'From llm', 'gpt-4');
                INSERT INTO responses VALUES('r1', 'gpt-4', 'first', 'Be terse.', 'one', '01abc',
                  '2023-08-01T10:00:00');""")
        self.write("work.yaml", "model: openai:gpt-4o\nmessages:\n- role: user\n  content: second\n"
                                "- role: assistant\n  content: two\n")
        out = self.conversations("import", str(self.home / "logs.db"), str(self.home / "work.yaml"))
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["llm-01abc", "aichat-work"])
        self.assertIn("there already", self.conversations("import", str(self.home / "work.yaml")))
        code, _, err = self.unnamed("--conversation", "llm-01abc", "go on")
        self.assertEqual(code, 0, err)
        self.assertEqual([m["content"] for m in self.sent()], ["Be terse.", "first", "one", "go on"])
        self.assertIn("From llm", self.conversations("list"))
        code, _, err = self.run_to_end("conversations", "import", str(self.home / "logs.db"),
                                       "--conversations-path", str(self.folder))
        self.assertEqual(code, 0, err)  # longer here: nothing is lost
        self.assertEqual(len(self.stored("llm-01abc")["messages"]), 5)

    def test_an_import_follows_a_renamed_conversation_and_keeps_its_records(self):  # FLT-136
        talk = ("model: openai:gpt-4o\nmessages:\n- {role: user, content: one}\n"
                "- {role: assistant, content: 'yes'}\n")
        self.write("work.yaml", talk)
        self.conversations("import", "work.yaml")
        self.conversations("rename", "aichat-work", "mine", "--title", "My own title")
        more = talk + "- {role: user, content: two}\n- {role: assistant, content: 'no'}\n"
        self.write("work.yaml", more)
        planned = self.conversations("import", "work.yaml", "--dry-run")
        self.assertEqual(planned.split(), "mine 4 messages longer than before".split())
        self.assertEqual(len(self.stored("mine")["messages"]), 2)
        self.assertEqual(self.conversations("import", "work.yaml"), planned)
        self.assertEqual(len(self.stored("mine")["messages"]), 4)
        self.assertIn("My own title", self.conversations("list"))
        self.assertFalse(self.path("aichat-work").exists())
        # What cannot be read is named, and holds up nothing else.
        self.write("other.yaml", talk)
        code, out, err = self.run_to_end("conversations", "import", "none.yaml", "other.yaml",
                                         "--conversations-path", str(self.folder))
        self.assertEqual((code, "none.yaml: no such file" in err), (4, True), err)
        self.assertIn("aichat-other", out)
        self.write("other.yaml", more.replace("one", "uno"))
        for dry in ([], ["--dry-run"]):
            code, out, err = self.run_to_end("conversations", "import", "other.yaml", *dry,
                                             "--conversations-path", str(self.folder))
            self.assertEqual((code, "another conversation has this id" in out), (13, True), err)

    def test_a_conversation_gets_another_name(self):  # FLT-136
        self.turn("zebra", conversation="old-name")
        self.assertEqual(self.conversations("rename", "old-", "new-name"), "new-name\n")
        self.assertFalse(self.path("old-name").exists())
        self.conversations("rename", "new-name", "--title", "A better title")
        self.assertIn("A better title", self.conversations("list"))
        self.turn("two", conversation="new-name")
        self.assertEqual(len(self.stored("new-name")["messages"]), 4)
        self.conversations("delete", "new-name", "-y")
        # The journal's words of the time before the rename are gone, too.
        for run in self.runs():
            self.assertNotIn("zebra", json.dumps(self.events(run["run"])))


if __name__ == "__main__":
    chat_case.main()
