#!/usr/bin/env python3
"""`dossier chat` against a recording server: new conversations, continued ones, dynamic commands."""

import json
import os
import time

import chat_case
from chat_case import block, counted, error_block, message
from harness import send

SYSTEM = "You are helpful."


class NewConversations(chat_case.ChatCase):
    def test_system_text_and_blocks_are_one_message(self):  # CON-N1 CON-N5 CON-N6 CON-N7 CON-N9 CON-D19
        self.configure(default_system_message=SYSTEM,
                       context_commands=[counted("a", "sleep 0.2; echo late"), counted("b")])
        for number in range(1, 6):
            self.turn(f"question {number}", *(("--exec", "echo extra") if number == 1 else ()))
        blocks = "\n\n".join([block("a", "late"), block("b", "out of b"),
                              block("CLI Command 1", "extra")])
        for number in range(5):
            self.assertEqual(self.system(number), SYSTEM + "\n\n" + blocks)
            self.assertEqual(self.last_user(number), f"question {number + 1}")
        self.assertEqual((self.runs_of("a"), self.runs_of("b")), (1, 1))
        text = self.path().read_text("utf-8")
        for name in ("a", "b", "CLI Command 1"):
            self.assertEqual(text.count(f"--- Context: {name} ---"), 1)
        users = [m["content"] for m in self.stored()["messages"] if m["role"] == "user"]
        self.assertEqual(users, [f"question {n}" for n in range(1, 6)])

    def test_a_system_message_is_made_of_what_there_is(self):  # CON-N2 CON-N3 CON-N4
        self.turn("q", "--system", SYSTEM, conversation="only-text")
        self.assertEqual(self.sent(), [message("system", SYSTEM), message("user", "q")])
        self.turn("q", conversation="nothing")
        self.assertEqual(self.sent(), [message("user", "q")])
        self.configure(context_commands=[counted("a")])
        self.turn("q", conversation="only-commands")
        self.assertEqual(self.sent(), [message("system", block("a", "out of a")), message("user", "q")])

    def test_later_turns_begin_with_the_bytes_of_earlier_ones(self):  # CON-T1 CON-T3 CON-T4
        self.configure(default_system_message=SYSTEM, context_commands=[counted("a")])
        for number in range(4):
            self.turn(f"question {number}")
        for number in range(3):
            before, after = self.sent(number), self.sent(number + 1)
            self.assertEqual(json.dumps(after[:len(before)]), json.dumps(before))
        self.assertEqual(self.path().read_text().count("--- Context: a ---"), 1)

    def test_exec_at_creation_is_frozen(self):  # CON-N10 CON-B18 CON-D3
        self.turn("one", "--exec", "echo first")
        frozen = block("CLI Command 1", "first")
        self.turn("two", "--exec", "echo second")
        self.assertEqual(self.system(), frozen)
        second = block("CLI Command 1", "second") + "\n\ntwo"
        self.assertEqual(self.last_user(), second)
        self.assertEqual(self.stored()["messages"][3], message("user", second))
        self.turn("three")
        self.assertEqual(self.sent()[3], message("user", second))

    def test_a_command_that_must_not_fail_ends_the_turn(self):  # CON-N11
        self.configure(context_commands=[counted("a", "exit 3", on_failure="fail")])
        code, out, err = self.chat("--conversation", "talk", "--json", "q")
        self.assertEqual(code, 14, err)
        error = json.loads(out)["error"]
        self.assertEqual((error["code"], error["exit"]), ("context_command_failed", 14))
        self.assertIn("context command 'a' failed: Command exited with code 3", error["message"])
        self.assertEqual((self.server.requests, self.path().exists()), ([], False))

    def test_failures_stand_once_in_the_system_message(self):  # CON-N12 CON-N14 CON-N15 CON-M1 CON-D1
        self.configure(context_commands=[counted("bad", "exit 1"), counted("good", "true"),
                                         counted("lost", "exit 2", on_failure="ignore")])
        for _ in range(2):
            self.turn("q")
        blocks = [error_block("bad", "Command exited with code 1"), block("good", "(no output)")]
        self.assertEqual(self.system(), "\n\n".join(blocks))
        self.assertEqual(self.sent(0)[0], self.sent(1)[0])
        self.assertEqual([self.runs_of(name) for name in ("bad", "good", "lost")], [1, 1, 1])

    def test_all_failures_ignored_are_remembered(self):  # CON-N13 CON-D1
        self.configure(context_commands=[counted("a", "exit 1", on_failure="ignore")])
        for _ in range(3):
            self.turn("q")
        self.assertEqual(self.sent()[0]["role"], "user")
        self.assertEqual(self.runs_of("a"), 1)
        self.assertEqual(self.stored()["metadata"]["context"]["mode"], "static")

    def test_a_template_error_comes_before_any_command(self):  # CON-N16 CON-D5
        self.configure(context_commands=[counted("a"), counted("b", "echo {{ NOPE }}")])
        code, _, err = self.chat("--conversation", "talk", "q")
        self.assertEqual(code, 3, err)
        self.assertIn("NOPE", err)
        self.assertEqual((self.runs_of("a"), self.path().exists()), (0, False))

    def test_a_provider_error_on_the_first_turn_leaves_no_file(self):  # CON-N17
        self.configure(context_commands=[counted("a")])
        self.answers = [lambda handler, _: send(handler, 500, b'{"error":{"message":"no"}}')]
        code, out, err = self.chat("--conversation", "talk", "q")
        self.assertEqual((code, out, self.path().exists()), (8, "", False), err)
        self.turn("q")
        self.assertEqual(self.runs_of("a"), 2)

    def test_read_only_needs_a_conversation(self):  # CON-N18
        self.configure(context_commands=[counted("a")])
        code, _, err = self.chat("--read-only", "--conversation", "nobody", "q")
        self.assertEqual((code, self.runs_of("a")), (4, 0), err)
        code, _, err = self.chat("--read-only", "q")
        self.assertEqual(code, 2)
        self.assertIn("--read-only requires --conversation", err)


class ContinuedConversations(chat_case.ChatCase):
    OLD = [message("user", "old question"), message("assistant", "old answer")]

    def test_a_frozen_context_is_used_as_it_is(self):  # CON-B1 CON-B2 CON-B3 CON-B11
        for text in (block("a", "old"), error_block("a", "broke")):
            system = message("system", f"Be brief.\n\n{text}")
            self.put([system, *self.OLD])
            self.configure(default_system_message="other", context_commands=[counted("a")])
            self.turn("q")
            self.assertEqual(self.sent()[0], system)
            self.assertEqual(self.runs_of("a"), 0)
            self.configure()
            self.turn("q")
            self.assertEqual(self.sent()[0], system)

    def test_a_system_text_for_a_conversation_without_one_is_not_stored(self):  # CON-B4 CON-B8
        self.put(self.OLD)
        self.configure(default_system_message=SYSTEM)
        self.turn("q")
        self.assertEqual(self.system(), SYSTEM)
        roles = [m["role"] for m in self.stored()["messages"]]
        self.assertEqual(roles, ["user", "assistant"] * 2)
        self.configure()
        self.turn("again")
        self.assertEqual(self.sent()[0]["role"], "user")

    def test_an_old_file_gets_its_blocks_in_requests_only(self):  # CON-B5 CON-B6 CON-B10 CON-D2 CON-D4
        half = message("system", "Be brief.\n--- Context: a ---\nno end")
        self.put([half, *self.OLD])
        self.configure(context_commands=[counted("a")])
        for number in range(2):
            code, _, err = self.chat("--conversation", "talk", f"q{number}")
            self.assertEqual(code, 0, err)
            self.assertEqual("context refresh talk" in err, number == 0, err)
            self.assertEqual(self.last_user(), block("a", "out of a") + f"\n\nq{number}")
            self.assertEqual(self.sent()[0], half)
        self.assertEqual(self.runs_of("a"), 2)
        self.assertNotIn("out of a", self.path().read_text())
        self.assertEqual(self.stored()["messages"][0], half)

    def test_blocks_in_old_user_messages_are_sent_word_by_word(self):  # CON-B7 CON-K5
        old = message("user", block("a", "old") + "\n\nold question")
        self.put([old, self.OLD[1]])
        prompt = "what is --- Context: x --- and {{ y }}?"
        self.turn(prompt)
        self.assertEqual(self.sent()[0], old)
        self.assertEqual(self.last_user(), prompt)

    def test_read_only_leaves_the_file_alone(self):  # CON-B9
        bytes_before = self.put(self.OLD)
        self.configure(default_system_message=SYSTEM, context_commands=[counted("a")])
        os.utime(self.path(), (1, 1))
        self.turn("q", "--read-only")
        self.assertEqual(self.path().read_bytes(), bytes_before)
        self.assertEqual(self.path().stat().st_mtime, 1)
        self.assertEqual(len(self.sent()), 4)

    def test_a_damaged_file_is_not_touched(self):  # CON-B14 CON-D15
        for text in ("{", "[]", '{"messages": ['):
            self.put([])
            self.path().write_text(text)
            code, _, err = self.chat("--conversation", "talk", "q")
            self.assertEqual(code, 4)
            self.assertIn("conversation talk is malformed", err)
            self.assertEqual(self.path().read_text(), text)

    def test_keys_of_others_are_kept(self):  # CON-B13 CON-B15 CON-A10
        self.put([], extra={"big": 12345678901234567890}, metadata={"theirs": [1]})
        code, _, err = self.chat("--conversation", "talk", "q")
        self.assertEqual(code, 0, err)
        self.assertIn("extra", err)
        self.assertEqual(self.stored()["extra"], {"big": 12345678901234567890})
        self.assertEqual(self.stored()["metadata"]["theirs"], [1])

    def test_a_stateless_turn_keeps_nothing(self):  # CON-B16 CON-Y7
        self.configure(default_system_message=SYSTEM, context_commands=[counted("a")])
        self.ok("q")
        self.assertEqual(self.sent(), [message("system", SYSTEM),
                                       message("user", block("a", "out of a") + "\n\nq")])
        self.assertFalse(self.folder.exists())
        old = self.home / ".cllm" / "Cllmfile.yml"
        old.parent.mkdir()
        old.write_bytes((self.home / "config" / "dossier" / "dossier.yml").read_bytes())
        old.chmod(0o600)
        self.ok("--compat", "q")
        self.assertEqual(self.sent(), [message("user", SYSTEM + "\n\n" + block("a", "out of a")
                                               + "\n\nq")])

    def test_a_conversation_made_without_commands_stays_so(self):  # CON-B17 CON-M5
        self.configure(context_commands=[counted("a")])
        self.turn("one", "--no-context-exec", "--exec", "echo mine")
        self.assertEqual(self.system(), block("CLI Command 1", "mine"))
        code, _, err = self.chat("--conversation", "talk", "two")
        self.assertEqual((code, self.runs_of("a")), (0, 0))
        self.assertIn("context refresh talk", err)
        self.turn("three", "--refresh-context")
        self.assertEqual((self.runs_of("a"), self.stored()["metadata"]["context"]["mode"]), (1, "static"))
        self.assertIn(block("a", "out of a"), self.system())

    def test_the_stored_model_is_used(self):  # CON-47 CON-D18
        self.turn("q")
        self.answers = ["two"]
        code, _, err = self.run_to_end("chat", "--base-url", self.server.url, "--retries", "0",
                                       "--conversations-path", str(self.folder), "--conversation",
                                       "talk", "q")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(self.server.requests[-1])["model"], chat_case.MODEL)
        words = ["another" if word == chat_case.MODEL else word for word in self.words()]
        code, _, err = self.run_to_end(*words, "--conversation", "talk", "q")
        self.assertEqual((code, json.loads(self.server.requests[-1])["model"]), (0, "another"))
        self.assertIn("prefix", err)
        self.assertEqual(self.stored()["model"], f"{self.server.url}#{chat_case.MODEL}")  # FLT-45


class DynamicCommands(chat_case.ChatCase):
    def test_dynamic_blocks_stand_before_the_text_every_turn(self):  # CON-Y2 CON-Y3 CON-Y4 CON-Y9 CON-Y10
        self.configure(context_commands=[counted("fixed"), counted("now", "wc -l < runs.now",
                                                                   dynamic=True)])
        for number in (1, 2, 3):
            self.turn(f"q{number}")
            self.assertEqual(self.last_user(), block("now", str(number)) + f"\n\nq{number}")
            self.assertEqual(self.system(), block("fixed", "out of fixed"))
        self.assertEqual((self.runs_of("fixed"), self.runs_of("now")), (1, 3))
        users = [m["content"] for m in self.stored()["messages"] if m["role"] == "user"]
        self.assertEqual(users, ["q1", "q2", "q3"])
        turns = self.stored()["metadata"]["dossier"]["turns"]
        self.assertEqual([len(turn["dynamic"]) for turn in turns], [1, 1, 1])

    def test_all_dynamic_means_no_frozen_block(self):  # CON-Y5
        self.configure(context_commands=[counted("now", dynamic=True)])
        self.turn("q")
        self.assertEqual([m["role"] for m in self.sent()], ["user"])
        self.assertEqual(self.stored()["metadata"]["context"]["mode"], "static")

    def test_a_dynamic_failure_leaves_the_file_alone(self):  # CON-Y6
        self.configure(context_commands=[counted("now", "test $(wc -l < runs.now) -lt 3",
                                                 dynamic=True, on_failure="fail")])
        self.turn("one")
        self.turn("two")
        before = self.path().read_bytes()
        code, _, err = self.chat("--conversation", "talk", "three")
        self.assertEqual((code, self.path().read_bytes()), (14, before), err)

    def test_a_repeat_may_become_a_note(self):  # CON-Y3 CON-Y8
        self.configure(context_commands=[counted("now", "echo same", dynamic=True, persist=True,
                                                 unchanged="note")])
        for number in (1, 2, 3):
            self.turn(f"q{number}")
        users = [m["content"] for m in self.stored()["messages"] if m["role"] == "user"]
        self.assertEqual(users[0], block("now", "same") + "\n\nq1")
        for number in (2, 3):
            self.assertEqual(users[number - 1],
                             block("now", "(unchanged since turn 1)") + f"\n\nq{number}")
        self.configure(context_commands=[counted("now", dynamic=True, unchanged="note")])
        code, _, _ = self.chat("--conversation", "talk", "q")
        self.assertEqual(code, 3)


class Output(chat_case.ChatCase):
    def test_the_answer_is_exact_in_a_pipe(self):  # CON-1 CON-7 CON-A12
        self.answers = ["\x1b[31mred\x1b[0m  \n", "no newline", "streamed"]
        self.assertEqual(self.ok("q"), "\x1b[31mred\x1b[0m  \n")
        self.assertEqual(self.ok("q"), "no newline\n")
        self.assertEqual(self.ok("--stream", "q"), "streamed\n")

    def test_json_says_what_happened(self):  # CON-1 CON-48
        self.configure(context_commands=[counted("a")])
        value = json.loads(self.ok("--conversation", "talk", "--json", "q"))
        self.assertEqual(value["schema"], 1)
        self.assertEqual((value["text"], value["conversation"], value["turn"], value["exit"]),
                         ("Reply 1", "talk", 1, 0))
        self.assertEqual([(b["name"], b["zone"], b["outcome"]) for b in value["context"]],
                         [("a", "system", "ok")])
        self.assertEqual(set(value["timings_ms"]), {"context", "first_token", "total"})

    def test_jsonl_is_one_event_a_line(self):  # CON-1
        lines = [json.loads(line) for line in self.ok("--jsonl", "q").splitlines()]
        names = [line["event"] for line in lines]
        self.assertEqual((names[0], names[-1]), ("start", "end"))
        self.assertEqual("".join(l["text"] for l in lines if l["event"] == "delta"), "Reply 1")

    def test_a_dry_run_prints_the_body_that_would_be_sent(self):  # CON-A13 CON-A3
        self.configure(context_commands=[counted("a")], default_system_message=SYSTEM)
        self.env["OPENAI_API_KEY"] = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
        shown = self.ok("--dry-run", "--conversation", "talk", "--max-tokens", "50", "q")
        self.assertEqual((self.server.requests, self.folder.exists()), ([], False))
        self.turn("q", "--max-tokens", "50")
        self.assertEqual(shown.rstrip("\n").encode(), self.server.requests[0])
        self.assertNotIn("sk-proj", shown)

    def test_explain_context_is_a_table(self):  # 3.2
        self.configure(context_commands=[counted("a")])
        out = self.ok("--explain-context", "--conversation", "talk", "q")
        self.assertRegex(out, r"(?m)^a +command +\d+ +\d+ +- +system$")
        self.assertEqual(self.server.requests, [])

    def test_raw_is_the_providers_json(self):  # 3.2
        value = json.loads(self.ok("--raw", "--conversation", "talk", "q"))
        self.assertEqual(value["choices"][0]["message"]["content"], "Reply 1")
        self.assertEqual(self.stored()["messages"][-1], message("assistant", "Reply 1"))

    def test_usage_is_one_line(self):  # CON-48 CON-T5
        self.configure(context_commands=[counted("a", "seq 100")])
        for _ in range(3):
            code, out, err = self.chat("--conversation", "talk", "-u", "q")
        # The server counts 5 tokens, fewer than so long a prompt can have: an estimate takes their place.
        self.assertRegex(err, r"usage: about [\d,]+ in \(0 cached\) \+ \d+ out")
        self.assertRegex(err, r"context saved [\d,]+ tokens \(50\.0 %\)")

    def test_new_and_continue(self):  # 3.2
        code, _, err = self.chat("--new", "one")
        self.assertRegex(err, r"(?m)^conversation: conv-[0-9a-f]{8}$")
        first = err.split("conversation: ")[1].split()[0]
        self.turn("other", conversation="newer")
        self.turn("again", conversation=first)
        self.ok("-c", "and again")
        self.assertEqual(len(self.stored(first)["messages"]), 6)

    def test_the_journal_shows_the_turn(self):  # 3.2, Contract 3
        self.turn("what is secret-word?")
        run = self.stored()["metadata"]["dossier"]["turns"][0]["run"]
        code, out, _ = self.run_to_end("runs", "show", run, "--messages")
        self.assertEqual(code, 0)
        for text in ("secret-word", "Reply 1", "final"):
            self.assertIn(text, out)
        self.turn("what is other-word?", "--no-log", conversation="quiet")
        run = self.stored("quiet")["metadata"]["dossier"]["turns"][0]["run"]
        _, out, _ = self.run_to_end("runs", "show", run, "--json")
        self.assertNotIn("other-word", out)
        self.assertNotIn("Reply 2", out)


class WrongUse(chat_case.ChatCase):
    def refused(self, code: int, text: str, *words: str):
        got, out, err = self.chat(*words)
        self.assertEqual((got, out), (code, ""), err)
        self.assertIn(text, err)
        self.assertEqual(self.server.requests, [])

    def test_wrong_ids(self):  # CON-28 CON-D12
        for name in ("../../x", "a" * 129, "a.b", ""):
            self.refused(4, "invalid conversation id", "--conversation", name, "q")
        self.assertFalse((self.home.parent / "x.json").exists())

    def test_flags_that_exclude_each_other(self):  # section 6
        self.refused(2, "--temperature", "-t", "9", "q")
        self.refused(2, "--raw", "--raw", "--json-schema", "{}", "q")
        self.refused(2, "--read-only and --new", "--read-only", "--new", "q")
        self.refused(2, "no PROMPT", )

    def test_a_prompt_that_is_not_utf8(self):  # section 6
        code, out, err = self.chat("-", stdin=b"ab\xff", text=False)
        self.assertEqual((code, out), (2, b""))
        self.assertIn(b"byte 2", err)

    def test_an_empty_reply_is_not_saved(self):  # section 6
        self.answers = [""]
        code, out, err = self.chat("--conversation", "talk", "q")
        self.assertEqual((code, out, self.path().exists()), (8, "", False))
        self.assertIn("the model returned no text (finish reason stop)", err)

    def test_a_folder_that_cannot_be_written_loses_no_answer(self):  # CON-29, section 6
        self.turn("one")
        before = self.path().read_bytes()
        target = self.home / "elsewhere"
        self.folder.rename(target)
        self.folder.mkdir()
        os.rename(target / "talk.json", self.path())

        def answer(handler, body):
            (self.folder / ".talk.lock").unlink(missing_ok=True)
            (self.folder / ".talk.lock").mkdir()
            chat_case.reply(handler, body, "kept")

        self.answers = [answer]
        code, out, err = self.chat("--conversation", "talk", "two")
        self.assertEqual((code, out), (1, "kept\n"), err)
        self.assertEqual(self.path().read_bytes(), before)

    def test_stdin_is_joined_and_waited_for(self):  # CON-6 CON-A6
        self.ok("PROMPT", stdin="  a \n\n")
        self.assertEqual(self.last_user(), "PROMPT\n  a \n")
        process = self.start(*self.words("--stdin-timeout", "1", "q"), stdin=-1)
        begun = time.monotonic()
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 7)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(len(self.server.requests), 1)


if __name__ == "__main__":
    chat_case.main()
