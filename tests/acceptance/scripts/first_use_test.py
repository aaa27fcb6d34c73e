#!/usr/bin/env python3
"""How a model is found, named and paid for on a machine where nothing is set up: FLT-43, FLT-44, FLT-45."""

import json
import os
import signal
import stat
import unittest

import harness
from terminal_test import Session

SERVERS = ("OLLAMA", "LLAMACPP", "VLLM", "LMSTUDIO")


def listing(names: list, tags: bool = False):
    """A stand-in server: its list of models, and "from NAME" as every reply."""
    def answer(handler, body):
        if handler.path == "/api/tags" and tags:
            harness.send(handler, 200, json.dumps({"models": [{"name": name} for name in names]}).encode())
        elif handler.path == "/v1/models" and not tags:
            harness.send(handler, 200, json.dumps({"data": [{"id": name} for name in names]}).encode())
        elif handler.path == "/v1/chat/completions" and body.get("model") in names:
            harness.reply(handler, body, f"from {body['model']}")
        else:
            harness.send(handler, 404, b'{"error": {"message": "no such model"}}')
    return answer


class FirstUse(harness.Case):
    def setUp(self):
        super().setUp()
        # What runs on this machine must not change a test.
        self.env |= {f"{name}_BASE_URL": "http://127.0.0.1:1/v1" for name in SERVERS}

    def stand_in(self, names: list, provider: str = "", tags: bool = False):
        server = self.serve(listing(names, tags))
        if provider:
            self.env[f"{provider}_BASE_URL"] = server.url
        return server

    def ok(self, *words: str, **options):
        code, out, err = self.run_to_end(*words, **options)
        self.assertEqual(code, 0, err)
        return out, err

    def ask(self, *words: str):
        return self.ok("ask", "--mode", "direct", "--retries", "0", *words, "What?")

    def typed(self, text: str, *words: str):
        """A command with `text` on stdin."""
        with open(self.write("typed", text), encoding="utf-8") as stdin:
            return self.run_to_end(*words, stdin=stdin)

    def terminal(self, *words: str, **env) -> Session:
        session = Session([harness.DOSSIER, *words], {**self.env, "TERM": "xterm-256color", **env},
                          cwd=str(self.home))
        self.addCleanup(session.kill)
        return session


class Names(FirstUse):
    """FLT-44"""

    def test_an_unknown_model_works_and_is_told_once_and_shortly(self):
        self.stand_in(["llama3", "mistral"], "OLLAMA")
        out, err = self.ask("-m", "ollama/llama3")
        self.assertEqual(out, "from llama3\n")
        told = [line for line in err.splitlines() if "not in the model data" in line]
        self.assertEqual(len(told), 1, err)
        self.assertLess(len(told[0]), 120)
        _, err = self.ask("-m", "ollama/llama3")
        self.assertNotIn("not in the model data", err)
        _, err = self.ask("-m", "ollama/mistral")
        self.assertIn("not in the model data", err, "another model is told again")

    def test_what_nobody_asked_for_is_not_told(self):
        self.stand_in(["gpt-5-mini"], "OPENAI")
        self.assertEqual(self.ask("-m", "openai/gpt-5-mini")[1].count("warning"), 0)
        self.assertIn("refuses seed", self.ask("-m", "openai/gpt-5-mini", "--seed", "7")[1])

    def test_an_image_goes_to_a_model_that_nobody_knows(self):  # FLT-48
        server = self.stand_in(["llava"], "OLLAMA")
        picture = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944" \
                  "4154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
        self.write("pic.png", bytes.fromhex(picture))
        _, err = self.ok("chat", "-m", "ollama/llava", "-a", "pic.png", "What is it?")
        self.assertIn("image_url", server.requests[-1].decode())
        self.assertIn("1,024 for an image", err)
        _, err = self.ok("chat", "-m", "ollama/llava", "-a", "pic.png", "What is it?")
        self.assertNotIn("for an image", err)

    def test_models_of_before_and_of_tomorrow_are_known_by_their_families(self):
        names = ["gpt-4o", "gpt-4", "gpt-3.5-turbo", "gpt-9-nano"]
        self.stand_in(names, "OPENAI")
        for name in names:
            out, err = self.ask("-m", name)
            self.assertEqual(out, f"from {name}\n")
            self.assertEqual("not in the model data" in err, name == "gpt-9-nano", err)

    def test_a_provider_without_a_model_is_asked_what_it_has(self):
        self.stand_in(["first", "second"], "VLLM")
        self.assertEqual(self.ask("-m", "vllm")[0], "from first\n")

    def test_refresh_reads_the_lists_and_list_shows_them(self):
        self.stand_in(["gpt-5", "gpt-77"], "OPENAI")
        self.stand_in(["llama3:8b"], "OLLAMA", tags=True)
        self.env["OPENAI_API_KEY"] = "k"
        out, _ = self.ok("models", "refresh")
        self.assertIn("openai       2 models, 1 that the model data do not have", out)
        self.assertIn("ollama       1 models, 1 that", out)
        out, _ = self.ok("models", "list")
        self.assertIn("openai/gpt-77", out)
        self.assertIn("ollama answers at", out)
        self.assertIn("-m ollama/llama3:8b", out)
        shown = json.loads(self.ok("models", "show", "openai/gpt-77", "--json")[0])
        self.assertEqual(shown["window"], 128000)
        self.assertRegex(shown["as_of"], r"^\d{4}-\d\d-\d\d$")
        _, err = self.ask("-m", "gpt-77")
        self.assertNotIn("not in the model data", err)

    def test_list_shows_what_servers_of_this_machine_have(self):
        self.stand_in(["llama3:8b", "mistral"], "OLLAMA", tags=True)
        for before in ((), ("models", "refresh")):
            if before:
                self.ok(*before)
            out, _ = self.ok("models", "list")
            for name in ("ollama/llama3:8b", "ollama/mistral"):
                rows = [line for line in out.splitlines() if line.startswith(name)]
                self.assertEqual(len(rows), 1, out)
                self.assertTrue(rows[0].endswith("its server answers"), rows)
        models = json.loads(self.ok("models", "list", "--json")[0])["models"]
        self.assertEqual([one["ready"] for one in models if one["provider"] == "ollama"], [True, True])

    def test_a_dry_run_of_chat_says_which_model_it_takes_for_the_servers(self):
        self.stand_in(["llama3"], "OPENAI")
        _, err = self.ok("chat", "--dry-run", "What?")
        self.assertIn("a dry run does not ask", err)
        self.assertEqual(self.ok("chat", "What?")[0], "from llama3\n")
        out, _ = self.ok("chat", "--dry-run", "-m", "gpt-5", "What?")
        self.assertEqual(json.loads(out)["model"], "gpt-5")

    def test_what_a_server_calls_a_model_is_one_word_of_a_command(self):
        self.stand_in(["$(reboot);x"], "OLLAMA")
        code, _, err = self.run_to_end("ask", "What?")
        self.assertEqual(code, 4, err)
        self.assertIn("-m 'ollama/$(reboot);x'", err)

    def test_refresh_says_who_failed_and_keeps_the_others(self):
        self.stand_in(["llama3"], "OLLAMA")
        self.env |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        code, out, err = self.run_to_end("models", "refresh")
        self.assertEqual(code, 8, err)
        self.assertIn("127.0.0.1:1", err)
        self.assertIn("ollama", out)

    def test_refresh_without_anybody_to_ask(self):
        code, _, err = self.run_to_end("models", "refresh")
        self.assertEqual(code, 5, err)
        self.assertIn("dossier keys set", err)

    def test_a_damaged_list_is_told_and_written_anew(self):
        self.stand_in(["llama3"], "OLLAMA")
        self.ok("models", "refresh")
        kept = self.home / "data/dossier/model-lists/ollama.yaml"
        kept.write_text("schema: [")
        code, _, err = self.run_to_end("models", "list")
        self.assertEqual(code, 3, err)
        self.assertIn("model-lists/ollama.yaml:1", err)
        self.assertIn("dossier models refresh", err)
        self.ok("models", "refresh")
        self.ok("models", "list")


class NoModel(FirstUse):
    """FLT-43"""

    def test_without_a_terminal_the_commands_are_named(self):
        code, out, err = self.run_to_end("ask", "What?")
        self.assertEqual((code, out), (4, ""))
        self.assertIn("`dossier models pull`", err)
        self.assertIn("`dossier keys set openai`", err)

    def test_a_server_of_this_machine_is_offered_first(self):
        self.stand_in(["llama3"], "OLLAMA")
        code, _, err = self.run_to_end("ask", "What?")
        self.assertEqual(code, 4, err)
        self.assertLess(err.index("-m ollama/llama3"), err.index("dossier models pull"))

    def test_a_question_ends_with_the_program(self):
        self.stand_in(["llama3"], "OLLAMA")
        for ending in (signal.SIGTERM, signal.SIGHUP):
            session = self.terminal("ask", "-c", self.write("text", "some words"), "What?")
            session.wait_for(b"ask its llama3? [Y/n] ")
            os.kill(session.pid, ending)
            self.assertNotEqual(session.end(), 0)

    def test_on_a_terminal_the_enter_key_takes_the_server(self):
        self.stand_in(["llama3"], "OLLAMA")
        session = self.terminal("ask", "-c", self.write("text", "some words"), "What?")
        session.wait_for(b"ask its llama3? [Y/n] ")
        session.send(b"\r")
        session.wait_for(b"dossier config set model ollama/llama3")  # FLT-47: the way out of being asked
        session.wait_for(b"from llama3")
        self.assertEqual(session.end(), 0)

    def test_on_a_terminal_the_local_model_is_offered_and_may_be_refused(self):
        session = self.terminal("ask", "-c", self.write("text", "some words"), "What?")
        session.wait_for(b"Fetch the local model, 1.1 GB? [Y/n] ")
        session.send(b"n\r")
        session.wait_for(b"dossier keys set openai")
        self.assertEqual(session.end(), 4)

    def test_on_a_terminal_the_answer_yes_fetches_it(self):
        # No Python is there to fetch with: what is told then comes from the fetching itself.
        session = self.terminal("ask", "-c", self.write("text", "some words"), "What?", PATH="/nowhere")
        session.wait_for(b"[Y/n] ")
        session.send(b"\r")
        session.wait_for(b"python")
        self.assertNotIn(session.end(), (0, 4))

    def test_chat_offers_it_too(self):
        session = self.terminal("chat", "What?")
        session.wait_for(b"Fetch the local model, 1.1 GB? [Y/n] ")
        session.send(b"n\r")
        self.assertEqual(session.end(), 4)

    def test_nobody_is_asked_with_no_input(self):
        session = self.terminal("ask", "-c", self.write("text", "words"), "--no-input", "What?")
        session.wait_for(b"dossier models pull")
        self.assertEqual(session.end(), 4)

    def test_doctor_says_what_there_is(self):
        out, _ = self.ok("doctor", "--json")
        checks = {check["name"]: check for check in json.loads(out)["checks"]}
        self.assertEqual(checks["model"]["state"], "warning")
        self.assertIn("none yet", checks["model"]["detail"])
        self.assertIn("dossier models pull", checks["local model"]["detail"])
        self.assertNotIn("answers", checks["model"]["detail"])
        server = self.stand_in(["llama3"], "OLLAMA")
        self.env["OPENAI_API_KEY"] = "k"
        checks = {check["name"]: check for check in json.loads(self.ok("doctor", "--json")[0])["checks"]}
        port = server.url.split(":")[2].split("/")[0]
        self.assertIn("-m ollama/llama3", checks[f"port {port}"]["detail"])
        self.assertIn("openai/", checks["model"]["detail"])
        self.assertEqual(checks["key of openai"]["detail"], "OPENAI_API_KEY is set")


class Addresses(FirstUse):
    """FLT-45"""

    def test_an_address_in_the_environment_needs_no_key_and_no_name(self):
        self.stand_in(["qwen3", "other"], "OPENAI")
        out, _ = self.ask()
        self.assertEqual(out, "from qwen3\n")
        self.assertEqual(self.ask("-m", "openai/other")[0], "from other\n")

    def test_doctor_and_list_know_that_address(self):
        server = self.stand_in(["qwen3", "other"], "OPENAI")
        checks = {check["name"]: check["detail"]
                  for check in json.loads(self.ok("doctor", "--json")[0])["checks"]}
        self.assertIn(f"the first that {server.url} lists (OPENAI_BASE_URL is set)", checks["model"])
        self.assertIn("lists 2 models", checks["address"])
        self.assertIn(f"{server.url} is asked where no model is named", self.ok("models", "list")[0])

    def test_a_conversation_with_a_model_that_nobody_named_goes_on(self):
        self.stand_in(["qwen3", "other"], "OPENAI")
        self.ok("chat", "--conversation", "talk", "One")
        self.assertEqual(self.ok("chat", "--conversation", "talk", "Two")[0], "from qwen3\n")

    def test_a_replay_takes_the_model_that_the_server_listed(self):
        self.stand_in(["qwen3", "other"], "OPENAI")
        self.ask("--record", "run.jsonl")
        self.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
        self.assertEqual(self.ask("--replay", "run.jsonl")[0], "from qwen3\n")
        out, _ = self.ask("--base-url", "http://127.0.0.1:1/v1", "--replay", "run.jsonl")
        self.assertEqual(out, "from qwen3\n")

    def test_a_dry_run_says_that_it_asks_no_server_which_model_it_has(self):
        server = self.stand_in(["qwen3"], "OPENAI")
        _, err = self.ask("--dry-run")
        self.assertIn("a dry run does not ask", err)
        code, _, err = self.run_to_end("ask", "--dry-run", "--base-url", server.url, "What?")
        self.assertEqual(code, 3, err)
        self.assertIn("a dry run does not ask which ones it lists", err)
        self.assertEqual(server.requests, [])

    def test_an_address_without_a_scheme(self):
        server = self.stand_in(["qwen3"])
        address = server.url.removeprefix("http://").removesuffix("/v1")
        self.assertEqual(self.ask("--base-url", address, "-m", "qwen3")[0], "from qwen3\n")
        self.assertEqual(self.ask("--base-url", address)[0], "from qwen3\n")

    def test_a_conversation_goes_on_at_its_address(self):
        server = self.stand_in(["qwen3"])
        self.ok("chat", "--conversation", "talk", "--base-url", server.url, "-m", "qwen3", "One")
        out, _ = self.ok("chat", "--conversation", "talk", "Two")
        self.assertEqual(out, "from qwen3\n")
        other = self.stand_in(["qwen3"])
        self.ok("chat", "--conversation", "talk", "--base-url", other.url, "-m", "qwen3", "Three")
        self.assertEqual(len(other.requests), 1, "an address that is named counts more")

    def configured(self):
        server = self.stand_in(["own-model"])
        (self.home / "config/dossier").mkdir(parents=True)
        (self.home / "config/dossier/dossier.yml").write_text(
            f"model: own-model\napi_base: {server.url}\n")
        return server

    def test_a_configured_address_counts_everywhere(self):
        server = self.configured()
        self.assertEqual(self.ask()[0], "from own-model\n")
        out, _ = self.ok("models", "test")
        self.assertIn(server.url, out)
        out, _ = self.ok("models", "list")
        self.assertIn(f"{server.url} is asked for own-model", out)
        text = self.write("text.txt", "some words")
        self.ok("tokens", "-m", "own-model", text)
        self.ok("pack", "-m", "own-model", text)
        checks = {check["name"]: check for check in json.loads(self.ok("doctor", "--json")[0])["checks"]}
        self.assertIn("lists 1 models", checks["api_base"]["detail"])
        self.assertIn("own-model", checks["model"]["detail"])

    def test_a_configured_address_where_nobody_answers_is_told_by_doctor(self):
        (self.home / "config/dossier").mkdir(parents=True)
        (self.home / "config/dossier/dossier.yml").write_text(
            "model: own-model\napi_base: http://127.0.0.1:1/v1\n")
        checks = {check["name"]: check for check in json.loads(self.ok("doctor", "--json")[0])["checks"]}
        self.assertEqual(checks["api_base"]["state"], "warning")

    def test_a_server_that_wants_a_key_says_so(self):
        server = self.serve(lambda handler, body: harness.send(handler, 401, b"{}"))
        code, _, err = self.run_to_end("ask", "--base-url", server.url, "-m", "x", "--retries", "0", "What?")
        self.assertEqual(code, 5, err)
        self.assertIn("wants a key, and none was sent", err)


class Keys(FirstUse):
    """FLT-45"""

    SECRET = "sk-not-to-be-seen-0123456789"

    def path(self):
        return self.home / "config/dossier/keys/openai"

    def test_a_key_is_stored_listed_used_and_removed(self):
        server = self.stand_in(["gpt-5.4-mini"], "OPENAI")
        del self.env["OPENAI_BASE_URL"]
        out, err = self.typed(f" {self.SECRET}\nmore\n", "keys", "set", "openai")[1:]
        self.assertEqual(self.path().read_text(), f"{self.SECRET}\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.path()).st_mode), 0o600)
        listed, _ = self.ok("keys", "list")
        self.assertIn(str(self.path()), listed)
        self.assertIn("anthropic    no key", listed)
        self.env["OPENAI_BASE_URL"] = server.url
        out2, err2 = self.ask("-v")
        self.assertEqual(out2, "from gpt-5.4-mini\n")
        self.assertIn(f"Bearer {self.SECRET}", server.headers[-1].get("Authorization", ""))
        for text in (out, err, listed, out2, err2):
            self.assertNotIn(self.SECRET, text)
        self.ok("keys", "remove", "openai")
        self.assertFalse(self.path().exists())
        code, _, err = self.run_to_end("keys", "remove", "openai")
        self.assertEqual(code, 4, err)

    def test_a_stored_key_chooses_the_provider(self):
        self.path().parent.mkdir(parents=True)
        self.path().write_text("k\n")
        self.path().chmod(0o600)
        checks = {check["name"]: check for check in json.loads(self.ok("doctor", "--json")[0])["checks"]}
        self.assertIn("openai/", checks["model"]["detail"])
        self.assertIn("openai/gpt-5.4-mini", self.ok("models", "list")[0])

    def test_on_a_terminal_the_key_is_not_shown(self):
        session = self.terminal("keys", "set", "openai")
        shown = session.wait_for(b"(it is not shown): ")
        session.send(self.SECRET.encode() + b"\r")
        shown += session.wait_for(b"the key of openai is in")
        self.assertEqual(session.end(), 0)
        self.assertNotIn(self.SECRET.encode(), shown + session.screen)
        self.assertEqual(self.path().read_text(), f"{self.SECRET}\n")

    def test_ctrl_c_stores_nothing(self):
        session = self.terminal("keys", "set", "openai")
        session.wait_for(b"(it is not shown): ")
        session.send(b"\x03")
        self.assertEqual(session.end(), 130)
        self.assertFalse(self.path().exists())

    def test_a_key_is_no_argument(self):
        code, _, err = self.run_to_end("keys", "set", "openai", self.SECRET)
        self.assertEqual(code, 2, err)
        code, _, err = self.run_to_end("keys", "set", self.SECRET)
        self.assertEqual(code, 3, err)
        self.assertNotIn(self.SECRET, err)

    def test_an_empty_or_broken_key_is_refused(self):
        for text, told in (("", "no key was given"), ("a b\n", "holds a blank")):
            code, _, err = self.typed(text, "keys", "set", "openai")
            self.assertEqual(code, 5, err)
            self.assertIn(told, err)
            self.assertFalse(self.path().exists())


class Configuration(FirstUse):
    """FLT-51"""

    def test_a_folder_that_is_named_needs_no_trust(self):
        (self.home / "ours").mkdir()
        (self.home / "ours/dossier.yml").write_text(
            "context_commands: [{name: words, command: echo said}]\n")
        out, _ = self.ok("--config-dir", "ours", "context", "run")
        self.assertIn("said", out)
        self.env["DOSSIER_CONFIG_DIR"] = str(self.home / "ours")
        code, out, err = self.run_to_end("context", "run")
        self.assertEqual((code, out), (12, ""), "who set the variable is not known")


class Words(FirstUse):
    """FLT-49"""

    def test_the_first_screen_is_help_and_no_error(self):
        out, err = self.ok()
        self.assertEqual(err, "")
        self.assertLessEqual(len(out.splitlines()), 22)

    def test_a_memory_speaks_in_sentences(self):
        self.ok("memory", "init")
        self.assertEqual(self.ok("memory", "set", "name", "Ann")[0], "name is kept (write 1)\n")
        self.ok("memory", "add", "a note of mine")
        out = json.loads(self.ok("memory", "search", "note", "--json")[0])
        self.assertNotIn("llm_insight", json.dumps(out))

    def test_an_estimate_says_by_what(self):
        text = self.write("text.txt", "some words")
        _, err = self.ok("tokens", "-m", "vllm/x", text)
        self.assertIn("estimates by the length of the text, within 15 %", err)

    def test_prompts_check_finds_nothing_in_its_own_files(self):
        out, err = self.ok("prompts", "check")
        self.assertEqual(err, "")
        self.assertNotIn("warning", out)
        self.assertIn("ok builtin:layouts/chat.yaml\n", out)


class Pipes(FirstUse):
    """FLT-42"""

    def test_a_pipe_that_is_not_read_is_told(self):
        text = self.write("text.txt", "some words")
        (self.home / "folder").mkdir()
        self.write("folder/one.txt", "some words")
        for words in (["tokens", text], ["inspect", text], ["pack", "folder"]):
            code, _, err = self.typed("piped", *words)
            self.assertEqual((code, "stdin was not read" in err), (0, True), (words, err))
            code, _, err = self.typed("piped", *words, "--no-stdin")
            self.assertEqual((code, err.count("stdin")), (0, 0), (words, err))
        for words in (["tokens", "-"], ["tokens"], ["inspect", "-"], ["pack"],
                      ["pack", "--files-from", "-"]):
            code, _, err = self.typed(text, *words)
            self.assertEqual((code, "not read" in err), (0, False), (words, err))


class Mistakes(FirstUse):
    """FLT-44, FLT-49: what a newcomer types and meets first."""

    def refused(self, code: int, *words: str, **options) -> str:
        got, _, err = self.run_to_end(*words, **options)
        self.assertEqual(got, code, err)
        return err

    def test_the_way_is_named(self):
        text = self.write("text.txt", "some words")
        self.assertIn("`dossier ask`", self.refused(2, "what is in A?"))
        self.assertIn("name a file by --file", self.refused(2, "chat", text, "summarise it"))
        self.write("pic.png", b"\x89PNG\r\n\x1a\nrest")
        self.assertIn("dossier chat -a", self.refused(4, "ask", "pic.png", "What is it?"))

    def test_a_file_of_a_question_may_be_named_as_that_of_a_message(self):
        server = self.stand_in(["gpt-5-mini"], "OPENAI")
        text = self.write("text.txt", "some rare words")
        self.ask("-m", "openai/gpt-5-mini", "-f", text)
        self.assertIn("some rare words", server.requests[-1].decode())

    def test_an_address_is_a_context(self):  # FLT-48
        def answer(handler, body):
            if handler.path == "/page.txt":
                return harness.send(handler, 200, b"some rare words", "text/plain")
            return harness.reply(handler, body, "seen")
        server = self.serve(answer)
        self.env["OPENAI_BASE_URL"] = server.url
        page = server.url.removesuffix("/v1") + "/page.txt"
        self.assertEqual(self.ask("-m", "openai/gpt-5-mini", page)[0], "seen\n")
        self.assertIn("some rare words", server.requests[-1].decode())
        self.assertIn("the question is missing", self.refused(2, "ask", page))

    def failing(self, status: int, code: str):
        body = json.dumps({"error": {"message": "It said so.", "type": code, "code": code}}).encode()
        server = self.serve(lambda handler, _: harness.send(handler, status, body))
        self.env |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        return server

    def test_a_name_that_failed_is_not_suggested(self):
        self.failing(404, "model_not_found")
        err = self.refused(3, "chat", "-m", "gpt-5.4-mini", "Hello")
        self.assertIn("the nearest known names are ", err)
        self.assertNotIn("gpt-5.4-mini", err.split("nearest known names are")[1].split(":")[0])

    def test_an_account_without_credit_is_asked_once(self):
        server = self.failing(429, "insufficient_quota")
        self.assertIn("has no credit", self.refused(6, "chat", "-m", "gpt-5.4-mini", "Hello"))
        self.assertEqual(len(server.requests), 1)


if __name__ == "__main__":
    harness.main()
