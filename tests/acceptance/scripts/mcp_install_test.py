#!/usr/bin/env python3
"""`dossier mcp install`, `uninstall`, `doctor` and `dossier hook read` over the files of clients.

usage: mcp_install_test.py --dossier PATH
"""

import json
import os
import pathlib
import shutil
import stat

import harness

EMPTY = "{}"
PLAIN = '{\n  "mcpServers": {\n    "other": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    }\n  }\n}\n'
JSON_FILES = [
    "", "\n", EMPTY, "{}\n", "{ }\n", "{\n}\n", PLAIN, PLAIN.replace("\n", "\r\n"),
    "\ufeff" + PLAIN, PLAIN.replace("  ", "\t"), PLAIN.replace("  ", "    "), PLAIN.rstrip("\n"),
    '// servers\n' + PLAIN, PLAIN + "// the end\n", PLAIN + "/* the end */",
    '{"mcpServers":{"other":{"command":"npx"}}}', '{"a": 1, "mcpServers": {}}',
    '{"mcpServers": {\n}}\n', '{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n}\n',
    '{\n  "a": 1\n  // nothing more\n}\n', '{\n  "a": [1, 2, {"b": "}"}],\n  "c": "// no comment"\n}\n',
    '{\n  "mcpServers": {\n    // mine\n    "other": {"command": "npx"}, /* yours */\n  },\n  "z": null\n}\n',
    '{\n  "mcpServers": {\n    "a": {"command": "a"},\n    "b": {"command": "b"}\n  }\n}\n',
    '{\n\n  "mcpServers": {\n\n    "a": {"command": "a"}\n\n  }\n\n}\n',
    '{"\\u006dcpServers": {"x": {"command": "y"}}}\n', '{\n "deep": {"mcpServers": {"dossier": 1}}\n}\n',
    '{\n  "mcpServers":\n  {\n    "other":\n    {\n      "command": "npx"\n    }\n  }\n}\n',
]
TOML_FILES = [
    "", "\n", 'model = "x"\n', 'model = "x"', '# mine\nmodel = "x" # yours\n\n[other]\na = 1\n',
    '[mcp_servers.other]\ncommand = "npx"\nargs = ["-y",\n  "x", # why\n]\n',
    '[mcp_servers.other]\r\ncommand = "npx"\r\n', '\ufeffmodel = "x"\n',
    'text = """\n[mcp_servers.dossier]\n"""\n', "text = '''\n[x\n'''\n\n\n",
    '[[list]]\na = 1\n[[list]]\na = 2\n', '["mcp_servers"."quoted name"]\ncommand = "x"\n',
]
BROKEN_JSON = ['{\n  "a": 1\n  "b": 2\n}\n', '{\n  "a": \n}\n', '{"a": 1} {}', '{\n  "a": "x\n}\n', "[1]",
               '{"mcpServers": []}', "{ /* no end"]
BROKEN_TOML = ['a = "x\n', "[a\n", "a = [1, 2\n", "a\n", 'mcp_servers = { other = { command = "x" } }\n']


class Install(harness.Case):
    def setUp(self):
        super().setUp()
        self.env["USERPROFILE"] = ""

    def dossier(self, *words, code=0):
        got, out, err = self.run_to_end("mcp", *words)
        self.assertEqual(got, code, out + err)
        return out + err

    def file_of(self, client: str) -> pathlib.Path:
        return self.home / {"cursor": ".cursor/mcp.json", "codex": ".codex/config.toml"}[client]

    def put(self, client: str, text: str) -> pathlib.Path:
        path = self.file_of(client)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def forms(self):
        yield from (("cursor", text) for text in JSON_FILES)
        yield from (("codex", text) for text in TOML_FILES)

    def test_a_link_out_of_the_project_is_not_followed(self):  # SRV-31
        outside = pathlib.Path(self.write("outside.json", EMPTY))
        (self.home / "folder").mkdir()
        project = self.home / "project"
        for name, target in ((".cursor/mcp.json", outside), (".cursor", self.home / "folder"),
                             (".cursor/mcp.json", self.home / "missing.json")):
            link = project / name
            link.parent.mkdir(parents=True)
            link.symlink_to(target)
            code, out, err = self.run_to_end("mcp", "install", "cursor", "--scope", "project",
                                             cwd=project)
            self.assertEqual(code, 12, out + err)
            self.assertIn("leads out of the project", err)
            self.assertEqual((outside.read_text(), list((self.home / "folder").iterdir())), (EMPTY, []))
            self.assertFalse((self.home / "missing.json").exists())
            shutil.rmtree(project)
        (project / "real").mkdir(parents=True)
        (project / ".cursor").symlink_to("real")
        code, out, err = self.run_to_end("mcp", "install", "cursor", "--scope", "project", cwd=project)
        self.assertEqual(code, 0, out + err)
        self.assertTrue((project / "real/mcp.json").exists(), "a link within it is followed")

    def test_forty_files_have_their_bytes_again(self):  # SRV-31, SRV-A7
        files = list(self.forms())
        self.assertGreaterEqual(len(files), 40)
        for client, text in files:
            with self.subTest(client=client, text=text):
                path = self.put(client, text)
                self.dossier("install", client)
                installed = path.read_bytes()
                self.assertNotEqual(installed, text.encode())
                self.assertIn(b"dossier", installed)
                if client == "cursor" and "//" not in text and "/*" not in text and ",\n}" not in text:
                    entry = json.loads(installed.decode("utf-8-sig"))["mcpServers"]["dossier"]
                    self.assertEqual((entry["type"], entry["args"]), ("stdio", ["mcp"]))
                if client == "codex":
                    self.check_toml(installed)
                self.assertIn("nothing to change", self.dossier("install", client))
                self.assertEqual(path.read_bytes(), installed, "twice is once")
                self.dossier("uninstall", client)
                self.assertEqual(path.read_bytes() if path.exists() else b"", text.encode())
                self.assertFalse(pathlib.Path(f"{path}.before-dossier").exists())

    def check_toml(self, text: bytes):
        try:
            import tomllib
        except ImportError:
            return
        found = tomllib.loads(text.decode("utf-8-sig"))
        self.assertEqual(found["mcp_servers"]["dossier"]["args"], ["mcp"])

    def test_what_others_changed_meanwhile_stays(self):  # SRV-31
        for client, text in self.forms():
            if client == "codex" or "mcpServers" not in text or "deep" in text or "u006d" in text:
                continue
            with self.subTest(text=text):
                path = self.put(client, text)
                self.dossier("install", client)
                changed = path.read_bytes().replace(b"npx", b"npm").replace(b'"a"', b'"q"')
                if changed == path.read_bytes():
                    continue
                path.write_bytes(changed)
                self.dossier("uninstall", client)
                self.assertEqual(path.read_bytes(),
                                 text.encode().replace(b"npx", b"npm").replace(b'"a"', b'"q"'))
                pathlib.Path(f"{path}.before-dossier").unlink()

    def test_broken_files_are_named_by_line_and_left_alone(self):  # SRV-31, SRV-A7, SRV-A23
        for client, texts in (("cursor", BROKEN_JSON), ("codex", BROKEN_TOML)):
            for text in texts:
                with self.subTest(text=text):
                    path = self.put(client, text)
                    said = self.dossier("install", client, code=4)
                    self.assertRegex(said, r"(mcp\.json|config\.toml):\d+: ")
                    self.assertEqual(path.read_bytes(), text.encode())

    def test_links_modes_and_read_only_files(self):  # SRV-31
        path = self.put("cursor", PLAIN)
        real = self.home / "real.json"
        path.rename(real)
        path.symlink_to(real)
        real.chmod(0o640)
        self.dossier("install", "cursor")
        self.assertTrue(path.is_symlink())
        self.assertIn("dossier", real.read_text())
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o640)
        self.assertEqual(pathlib.Path(f"{real}.before-dossier").read_text(), PLAIN)
        self.dossier("uninstall", "cursor")
        real.chmod(0o440)
        self.assertIn("read-only", self.dossier("install", "cursor", code=4))

    def test_a_foreign_entry_is_kept_without_yes(self):  # SRV-31
        text = PLAIN.replace('"other"', '"dossier"')
        path = self.put("cursor", text)
        self.assertIn("-y", self.dossier("install", "cursor", code=4))
        self.assertIn("-y", self.dossier("uninstall", "cursor", code=4))
        self.assertEqual(path.read_text(), text)
        self.dossier("install", "cursor", "-y")
        self.assertEqual(json.loads(path.read_text())["mcpServers"]["dossier"]["args"], ["mcp"])

    def test_each_client_has_its_file_and_its_key(self):  # SRV-30
        places = {("claude-code", "project"): (".mcp.json", "mcpServers"),
                  ("claude-desktop", "user"): (".config/Claude/claude_desktop_config.json", "mcpServers"),
                  ("cursor", "user"): (".cursor/mcp.json", "mcpServers"),
                  ("cursor", "project"): (".cursor/mcp.json", "mcpServers"),
                  ("windsurf", "user"): (".codeium/windsurf/mcp_config.json", "mcpServers"),
                  ("vscode", "project"): (".vscode/mcp.json", "servers"),
                  ("gemini", "user"): (".gemini/settings.json", "mcpServers"),
                  ("gemini", "project"): (".gemini/settings.json", "mcpServers")}
        for (client, scope), (name, key) in places.items():
            with self.subTest(client=client, scope=scope):
                folder = self.home / "project" if scope == "project" else self.home
                folder.mkdir(exist_ok=True)
                code, out, err = self.run_to_end("mcp", "install", client, "--scope", scope,
                                                 "--name", "files", cwd=folder)
                self.assertEqual(code, 0, err)
                entry = json.loads((folder / name).read_text())[key]["files"]
                self.assertTrue(entry["command"].endswith("/dossier"))
        self.assertIn("did you mean cursor?", self.dossier("install", "cursr", code=4))
        self.assertIn("project", self.dossier("install", "windsurf", "--scope", "project", code=4))

    def test_a_client_with_a_command_of_its_own_is_asked_by_it(self):  # SRV-30
        self.assertIn("not on PATH", self.dossier("install", "claude-code", code=4))
        tool = self.home / "bin/claude"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\necho "$@" >> {self.home}/called\n')
        tool.chmod(0o755)
        self.env["PATH"] = f"{tool.parent}:{self.env['PATH']}"
        self.dossier("install", "claude-code", "--dry-run")
        self.dossier("install", "claude-code")
        self.dossier("uninstall", "claude-code")
        called = (self.home / "called").read_text().splitlines()
        self.assertRegex(called[0], "^mcp add --scope user dossier -- .*/dossier mcp$")
        self.assertEqual(called[1:], ["mcp remove --scope user dossier"])

    def test_the_hook_is_installed_and_taken_out_again(self):  # SRV-32
        folder = self.home / ".claude"
        folder.mkdir()
        settings = folder / "settings.json"
        for text in ('{\n  "model": "x" // mine\n}\n', '{"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}\n'):
            settings.write_text(text)
            self.dossier("install", "claude-code", "--scope", "project", "--hook")
            self.assertIn("hook read", settings.read_text())
            self.dossier("uninstall", "claude-code", "--scope", "project")
            self.assertEqual(settings.read_text(), text)

    def test_dry_run_changes_nothing(self):  # SRV-31
        path = self.put("cursor", PLAIN)
        self.assertIn("dossier", self.dossier("install", "cursor", "--dry-run"))
        self.assertEqual(path.read_text(), PLAIN)

    def test_doctor_starts_what_is_registered(self):  # SRV-31
        self.assertIn("dossier mcp install", self.dossier("doctor"))
        for client in ("cursor", "codex"):
            self.dossier("install", client)
        code, out, err = self.run_to_end("mcp", "doctor", "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        self.assertEqual([(one["client"], one["tools"]) for one in found["servers"]],
                         [("cursor", 10), ("codex", 10)])
        self.assertEqual(found["sandbox"], "strict")
        path = self.file_of("cursor")
        path.write_text(path.read_text().replace('"command": "', '"command": "/nowhere'))
        self.assertIn("/nowhere", self.dossier("doctor", code=15))

    def test_doctor_starts_no_program_that_a_project_names(self):  # SRV-31
        project = self.home / "project"
        project.mkdir()
        (project / "dossier").write_text(f"#!/bin/sh\ntouch {self.home}/started\n")
        (project / "dossier").chmod(0o755)
        (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {
            "command": f"{project}/dossier", "args": ["mcp"]}}}))
        code, out, err = self.run_to_end("mcp", "doctor", cwd=project)
        self.assertEqual(code, 15, out)
        self.assertIn("was not started", err)
        self.assertFalse((self.home / "started").exists())


class Hook(harness.Case):
    def hook(self, message, *flags) -> str:
        text = message if isinstance(message, str) else json.dumps(message)
        path = self.write("message.json", text)
        with open(path) as stdin:
            code, out, err = self.run_to_end("hook", "read", *flags, stdin=stdin, limit=5)
        self.assertEqual(code, 0, err)
        return out

    def read(self, path, **more) -> dict:
        return {"tool_name": "Read", "cwd": str(self.home),
                "tool_input": {"file_path": str(path), **more}}

    def test_only_a_whole_read_of_a_large_text_is_refused(self):  # SRV-32, SRV-A8
        large = self.write("large.ndjson", '{"name": "Ann", "age": 3}\n' * 20000)
        small = self.write("small.txt", "a line\n")
        image = self.write("large.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(400000))
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        for message in (self.read(large), self.read("large.ndjson"), self.read(large, offset=None, limit=None)):
            told = json.loads(self.hook(message))["hookSpecificOutput"]
            self.assertEqual((told["hookEventName"], told["permissionDecision"]), ("PreToolUse", "deny"))
            for part in (large, "age", '{"paths": [', "dossier ask -c", "offset"):
                self.assertIn(part, told["permissionDecisionReason"])
        for message in (self.read(small), self.read(large, offset=1), self.read(large, limit=10),
                        self.read("missing.txt"), self.read(image), self.read(fifo),
                        {**self.read(large), "tool_name": "Bash"}, "garbage", "", "[]", "{}",
                        {"tool_name": "Read"}, self.read(self.home)):
            self.assertEqual(self.hook(message), "", message)
        self.assertEqual(self.hook(self.read(large), "--limit", "1M"), "")


if __name__ == "__main__":
    harness.main()
