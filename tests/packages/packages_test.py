#!/usr/bin/env python3
"""What `make package` and `make install` give, tried where nothing else is.  (FLT-46)

packages_test.py --build FOLDER --source FOLDER [unittest arguments]

Each package is installed into a root with Debian's essential packages alone (and those that the package names
as its dependencies), without network, and does its work there.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bare_root  # noqa: E402
import links  # noqa: E402

EVENTS = "".join(json.dumps({"status": status, "path": path}) + "\n"
                 for status, path in [(503, "/a"), (200, "/b"), (503, "/c")])
REPLIES = json.dumps(["```repl\nimport sqlite3, ssl, hashlib, decimal\n"
                      "print(sum(1 for r in records if r['status'] == 503))\n```", "FINAL: 2"])
NO_PAGE = {"help", "completion", "man"}  # commands that explain themselves

arguments = argparse.Namespace()
folder = pathlib.Path()
packages: dict[str, pathlib.Path] = {}
known: bare_root.Packages


def run(*words, **options) -> str:
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def setUpModule():
    global folder, known
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dossier-packages-"))
    folder.chmod(0o755)
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    known = bare_root.Packages()
    run(sys.executable, arguments.source / "scripts/package", "--quick", "--build", arguments.build,
        "--out", folder / "dist")
    for path in (folder / "dist").iterdir():
        packages["pure" if "none-any" in path.name else path.suffix.lstrip(".")] = path


class Documents:
    """What is beside the programs, below the folder `share` of an installation."""

    def check_documents(self, share: pathlib.Path, functions: str):
        self.assertEqual(links.broken(share / "doc/dossier"), [])
        guide = share / "doc/dossier/docs/guide"
        self.assertEqual({path.name for path in guide.iterdir()},
                         {path.name for path in (arguments.source / "docs/guide").iterdir()})
        pages = {path.name.split(".")[0] for path in (share / "man/man1").iterdir()}
        help_text = run(arguments.build / "bin/dossier", "--help")
        commands = re.findall(r"^  (\S+)", re.search(r"^Commands:\n(.*?)\n\n", help_text, re.M | re.S)[1], re.M)
        self.assertEqual(pages, {"dossier", *(f"dossier-{name}" for name in commands if name not in NO_PAGE)})
        for shell, place in (("bash", "bash-completion/completions/dossier"), ("zsh", f"zsh/{functions}/_dossier"),
                             ("fish", "fish/vendor_completions.d/dossier.fish")):
            text = (share / place).read_text("utf-8")
            self.assertEqual(text, run(arguments.build / "bin/dossier", "completion", shell))


class Installed(Documents):
    """What every package must do where it is installed: the cases of the three classes below."""

    MORE: list[str] = []       # Debian packages that the root has besides the essential ones
    FUNCTIONS = "site-functions"
    SHARE = ""                 # where the installation's data are

    @classmethod
    def setUpClass(cls):
        if not bare_root.possible():
            raise unittest.SkipTest("a root of its own needs root or user namespaces")
        cls.root = bare_root.BareRoot(folder / cls.__name__, cls.more(), known)
        for name, text in (("events.ndjson", EVENTS), ("replies.json", REPLIES)):
            (cls.root.folder / "srv" / name).write_text(text)
        (cls.root.folder / "srv/notes").mkdir()
        (cls.root.folder / "srv/notes/a.md").write_text("# Notes\n\nhello\n")
        cls.install()

    @classmethod
    def more(cls) -> list[str]:
        return cls.MORE

    @classmethod
    def inside(cls, *words, code: int = 0, **options) -> subprocess.CompletedProcess:
        done = cls.root.run(*words, **options)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    @classmethod
    def dossier(cls, *words, **options) -> subprocess.CompletedProcess:
        return cls.inside("dossier", *words, **options)

    def test_the_command_says_its_version(self):
        self.assertEqual(self.dossier("--version").stdout, run(arguments.build / "bin/dossier", "--version"))

    def test_a_file_is_described_and_a_folder_packed(self):
        self.assertIn("Records: 3", self.dossier("inspect", "events.ndjson").stdout)
        self.assertIn("hello", self.dossier("pack", "notes").stdout)

    def test_tokens_are_counted_exactly_by_the_tables_beside_the_program(self):
        text = "Packages bring their tables along: über 12,345 tokens.\n"
        for encoding in ("o200k_base", "cl100k_base"):
            wanted = run(arguments.build / "bin/dossier", "tokens", "--encoding", encoding, "--json", input=text)
            self.assertEqual(
                json.loads(self.dossier("tokens", "--encoding", encoding, "--json", stdin=text).stdout),
                json.loads(wanted))
            self.assertIs(json.loads(wanted)["exact"], True)

    def test_a_question_is_answered_by_code_in_the_strict_sandbox(self):
        for user in (0, 1000):
            done = self.dossier("ask", "--mode", "recursive", "-m", "scripted", "--script", "replies.json", "-c",
                                "events.ndjson", "How many events have the status 503?", user=self.user(user))
            self.assertEqual(done.stdout, "2\n", done.stderr)
            self.assertNotIn("warning", done.stderr)

    @staticmethod
    def user(wanted: int) -> int:
        """Root inside is one user alone where the tests do not run as root: the sandbox cannot change users."""
        return wanted if bare_root.os.geteuid() == 0 else 1000

    def test_a_conversation_on_a_terminal_finds_its_line_editor(self):
        (self.root.folder / "srv/hello.json").write_text('["**good** day"]')
        reads = "\x1b[?2004h"  # what was typed before the line editor says so is thrown away
        shown = self.root.talk("dossier", "chat", "-m", "scripted", "--script", "hello.json", TERM="xterm",
                               lines=[(reads, "hello\r"), ("day", ""), (reads, "\x04")])
        self.assertIn("day", shown)
        self.assertNotIn("libedit", shown)
        self.assertNotIn("**", shown, "Markdown is drawn by md4c")

    def test_a_model_behind_http_fails_for_want_of_a_network_alone(self):
        done = self.root.run("dossier", "ask", "--retries", "0", "--base-url", "http://127.0.0.1:9/v1", "-m", "x",
                             "--mode", "direct", "hello?")
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertIn("no connection", done.stderr)

    def test_the_local_model_says_what_it_needs(self):
        done = self.root.run("dossier", "models", "pull")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, self.WITHOUT_RUNTIME)

    def test_documents_are_there_and_their_links_lead_somewhere(self):
        self.check_documents(self.root.folder / self.SHARE, self.FUNCTIONS)


class DebianPackage(Installed, unittest.TestCase):
    SHARE = "usr/share"
    FUNCTIONS = "vendor-completions"
    WITHOUT_RUNTIME = "python3"

    @classmethod
    def more(cls):
        fields = run("dpkg-deb", "-f", packages["deb"], "Depends")
        return [known.choose(alternatives) for alternatives in bare_root.names_in(fields)]

    @classmethod
    def install(cls):
        shutil.copy(packages["deb"], cls.root.folder / "srv/dossier.deb")
        cls.inside("dpkg", "--force-not-root", "-i", "dossier.deb")

    def test_dependencies_were_computed_and_name_what_is_loaded_by_name(self):
        fields = run("dpkg-deb", "-f", packages["deb"], "Depends")
        self.assertRegex(fields, r"libc6 \(>= ")
        self.assertRegex(fields, r"libpython3\.11 \(>= ")
        names = {name for [name] in bare_root.names_in(fields)}
        self.assertLessEqual({"libcurl4", "libedit2", "libmd4c0"}, names)
        self.assertNotIn("python3", names)

    def test_removing_it_leaves_nothing(self):
        root = bare_root.BareRoot(folder / "removed", self.more(), known)
        shutil.copy(packages["deb"], root.folder / "srv/dossier.deb")
        for words in (["-i", "dossier.deb"], ["-r", "dossier"]):
            done = root.run("dpkg", "--force-not-root", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
        left = [str(path) for path in (root.folder / "usr").rglob("*dossier*")]
        self.assertEqual(left, [])


class Tarball(Installed, unittest.TestCase):
    SHARE = "opt/dossier/share"
    WITHOUT_RUNTIME = "python3"

    @classmethod
    def install(cls):
        shutil.copy(packages["gz"], cls.root.folder / "srv/dossier.tar.gz")
        cls.inside("sh", "-c", "mkdir -p /opt && cd /opt && tar xzf /srv/dossier.tar.gz && mv dossier-* dossier")

    def test_what_it_needs_is_told_and_true(self):
        text = (self.root.folder / "opt/dossier/share/doc/dossier/REQUIREMENTS").read_text()
        minor = int(re.search(r"glibc 2\.(\d+)", text)[1])
        asked = set()
        for path in (self.root.folder / "opt/dossier").rglob("*"):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                asked |= {int(found) for found in re.findall(r"GLIBC_2\.(\d+)", run("objdump", "-T", path))}
        self.assertEqual(minor, max(asked))

    def test_every_library_brought_along_comes_with_its_licence(self):
        tree = self.root.folder / "opt/dossier"
        self.assertTrue((tree / "lib/dossier/libcurl.so.4").exists())
        self.assertGreater(len(list((tree / "share/doc/dossier/licences").iterdir())), 10)

    def test_in_a_folder_of_root_alone_the_sandbox_says_why_it_does_not_start(self):
        if self.user(0) != 0:
            self.skipTest("only real root gives up its rights")
        self.inside("sh", "-c", "mkdir -m 700 /srv/own && cp -r /opt/dossier /srv/own")
        done = self.inside("/srv/own/dossier/bin/dossier", "ask", "--mode", "recursive", "-m", "scripted", "--script",
                           "replies.json", "-c", "events.ndjson", "How many?", code=12)
        self.assertIn("a folder that only root may enter", done.stderr)

    def test_it_runs_where_it_is_moved(self):
        self.inside("sh", "-c", "cp -r /opt/dossier '/home/ann/a folder' && chown -R 1000:1000 /home/ann || true")
        done = self.inside("/home/ann/a folder/bin/dossier", "ask", "--mode", "recursive", "-m", "scripted",
                           "--script", "/srv/replies.json", "-c", "/srv/events.ndjson", "How many?",
                           user=1000)
        self.assertEqual(done.stdout, "2\n", done.stderr)


class Wheel(Installed, unittest.TestCase):
    MORE = ["python3-venv"]
    SHARE = "opt/dossier/share"
    WITHOUT_RUNTIME = "pip download failed"

    @classmethod
    def install(cls):
        shutil.copy(packages["whl"], cls.root.folder / "srv")
        cls.inside("python3", "-m", "venv", "/opt/dossier")
        cls.inside("/opt/dossier/bin/pip", "install", "-q", "--no-index", f"/srv/{packages['whl'].name}")

    def test_its_tag_names_the_oldest_c_library_that_will_do(self):
        self.assertRegex(packages["whl"].name, r"^dossier_context-[\d.]+-py3-none-manylinux_2_36_x86_64\.whl$")

    def test_the_package_asks_with_the_command_that_it_brought(self):  # SRV-81, SRV-A20
        code = ("import dossier_context as d; a = d.ask('How many?', '/srv/events.ndjson', mode='recursive', "
                "model='script:/srv/replies.json'); print(a.text, a.status)")
        self.assertEqual(self.inside("/opt/dossier/bin/python3", "-c", code).stdout, "2 final\n")

    def test_pip_takes_it_away_again(self):
        self.inside("cp", "-r", "/opt/dossier", "/opt/other")
        self.inside("sh", "-c", "sed -i s,/opt/dossier,/opt/other,g /opt/other/pyvenv.cfg && "
                    "/opt/other/bin/python3 -m pip uninstall -q -y dossier-context")
        left = [path for path in (self.root.folder / "opt/other").rglob("*")
                if path.is_file() and ("dossier" in path.name or "dossier" in path.parent.name)]
        self.assertEqual(left, [])


class MakeInstall(Documents, unittest.TestCase):
    def test_uninstall_takes_away_what_install_brought_and_nothing_else(self):
        prefix = folder / "prefix"
        (prefix / "share/doc/other").mkdir(parents=True)
        (prefix / "share/doc/other/file").write_text("stays")
        run(arguments.source / "scripts/install", arguments.build, prefix)
        self.check_documents(prefix / "share", "site-functions")
        self.assertEqual(run(prefix / "bin/dossier", "--version"),
                         run(arguments.build / "bin/dossier", "--version"))
        run(arguments.source / "scripts/uninstall", prefix)
        self.assertEqual([str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()],
                         ["share/doc/other/file"])
        again = subprocess.run([arguments.source / "scripts/uninstall", prefix], text=True, capture_output=True)
        self.assertEqual(again.returncode, 1)
        self.assertIn("nothing was installed there", again.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    _, rest = parser.parse_known_args(namespace=arguments)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
