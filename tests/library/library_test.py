#!/usr/bin/env python3
"""libdossier as others get it: installed, found, compiled against and linked, outside of this tree.

library_test.py --build FOLDER --source FOLDER [--cmake PROGRAM] [--jobs N] [unittest arguments]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
# What an example in a comment may use besides the header that it stands in.
FOR_EXAMPLES = ["iostream", "thread"]

arguments = argparse.Namespace()


def run(*words, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)


def header_examples(text: str) -> list[str]:
    """The blocks between `// [example]` and `// [/example]`, without the comment's marks."""
    found = re.findall(r"^// \[example\]\n(.*?)^// \[/example\]\n", text, re.S | re.M)
    return ["".join(re.sub(r"^//(?:   )?", "", line) for line in block.splitlines(True))
            for block in found]


def page_snippets(text: str) -> list[str]:
    """The ```cpp blocks of a page."""
    return re.findall(r"^```cpp\n(.*?)^```$", text, re.S | re.M)


def as_program(header: str, snippets: list[str]) -> str:
    """Each snippet as the body of a function of its own; #include lines go to the top."""
    includes = [f"#include <{header}>", *(f"#include <{name}>" for name in FOR_EXAMPLES)]
    functions = []
    for number, snippet in enumerate(snippets):
        lines = snippet.splitlines()
        includes += [line for line in lines if line.startswith("#include")]
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        functions.append(f"int Example{number}() {{\n{body}\nreturn 0;\n}}\n")
    return "\n".join(dict.fromkeys(includes)) + "\n" + "\n".join(functions)


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="dossier-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        cls.check(run(arguments.cmake, "--build", arguments.build, "-j", arguments.jobs,
                      "--target", "library", "dossier-python-worker", "dossier_token_tables"))
        for component in ("library", "worker"):
            cls.check(run(arguments.cmake, "--install", arguments.build, "--prefix", cls.prefix,
                          "--component", component))
        (cls.folder / "tmp").mkdir()
        cls.env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(cls.folder / "home"),
                   "TMPDIR": str(cls.folder / "tmp"), "GIT_CONFIG_NOSYSTEM": "1"}
        (cls.folder / "home").mkdir()

    @classmethod
    def check(cls, done: subprocess.CompletedProcess) -> str:
        if done.returncode != 0:
            raise AssertionError(f"{done.args}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def library_folder(self) -> pathlib.Path:
        return next(self.prefix.rglob("libdossier.so")).parent

    def compile_only(self, name: str, text: str) -> str:
        source = self.folder / f"{name}.cc"
        source.write_text(text, "utf-8")
        done = run("c++", *FLAGS, "-fsyntax-only", "-I", self.prefix / "include", source)
        return "" if done.returncode == 0 else f"{name}:\n{done.stderr[:3000]}"

    def test_the_package_has_archive_library_headers_and_both_package_files(self):  # HSE-11
        lib = self.library_folder()
        for name in ("libdossier.a", "libdossier.so", "pkgconfig/dossier.pc",
                     "cmake/dossier/dossierConfig.cmake", "cmake/dossier/dossierConfigVersion.cmake"):
            self.assertTrue((lib / name).exists(), name)
        installed = {path.name for path in (self.prefix / "include/dossier").iterdir()}
        ours = {path.name for path in (arguments.source / "include/dossier").iterdir()}
        self.assertEqual(installed, ours)

    def test_every_example_builds_against_the_package_and_says_what_it_should(self):  # HSE-11
        build = self.folder / "examples"
        self.check(run(arguments.cmake, "-S", arguments.source / "examples", "-B", build,
                       f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Debug",
                       env=self.env))
        self.check(run(arguments.cmake, "--build", build, "-j", arguments.jobs, env=self.env))
        wanted = json.loads((HERE / "examples.json").read_text("utf-8"))
        sources = {path.stem for path in (arguments.source / "examples").glob("*.cc")}
        headers = {path.stem for path in (arguments.source / "include/dossier").glob("*.h")}
        self.assertEqual(sources, headers, "one example for each header")
        self.assertEqual(sources, {name for name in wanted if not name.endswith("_static")})
        for name, output in wanted.items():
            with self.subTest(name):
                place = self.folder / "run" / name
                place.mkdir(parents=True)
                done = run(build / name, cwd=place, env=self.env, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (0, output), done.stderr)

    def test_pkg_config_gives_what_a_compiler_needs(self):  # HSE-11
        lib = self.library_folder()
        env = {**self.env, "PKG_CONFIG_PATH": str(lib / "pkgconfig")}
        flags = self.check(run("pkg-config", "--cflags", "--libs", "dossier", env=env)).split()
        program = self.folder / "by_pkg_config"
        self.check(run("c++", *FLAGS, arguments.source / "examples/inspect.cc", "-o", program, *flags,
                       f"-Wl,-rpath,{lib}"))
        done = run(program, cwd=self.folder, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("csv, 250 records", done.stdout)

    def test_examples_of_headers_and_snippets_of_the_guide_compile(self):  # HSE-31
        jobs = {}
        for path in sorted((arguments.source / "include/dossier").glob("*.h")):
            examples = header_examples(path.read_text("utf-8"))
            self.assertTrue(examples, f"{path.name} begins with no [example]")
            jobs[path.stem] = as_program(f"dossier/{path.name}", examples)
        guide = page_snippets((arguments.source / "docs/guide/cpp-api.md").read_text("utf-8"))
        self.assertTrue(guide)
        jobs["guide"] = as_program("dossier/dossier.h", guide)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            faults = list(pool.map(lambda job: self.compile_only(*job), jobs.items()))
        self.assertEqual("", "\n".join(filter(None, faults)))

    def test_headers_name_no_type_of_others_no_macro_and_no_exception(self):  # HSE-10
        for path in sorted((self.prefix / "include/dossier").glob("*.h")):
            text = path.read_text("utf-8")
            macros = re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M)
            self.assertEqual(macros, [f"DOSSIER_{path.stem.upper()}_H_"], path.name)
            code = re.sub(r"//.*", "", text)
            self.assertNotRegex(code, r"\bthrow\b|\btry\b|\bboost\b|\bfmt\b", path.name)
            others = [name for name in re.findall(r"#include <([^>]+)>", code)
                      if "/" in name and not name.startswith("dossier/")]
            self.assertEqual(others, ["tl/expected.hpp"] if path.stem == "result" else [], path.name)

    def test_the_shared_library_shows_the_public_names_alone(self):  # HSE-10
        shown = self.check(run("nm", "-DC", "--defined-only", self.library_folder() / "libdossier.so"))
        names = [line.split(" ", 2)[2] for line in shown.splitlines()]
        self.assertIn("dossier::Model::has_price() const", names)
        rooms = {path.name for path in (arguments.source / "src").iterdir() if path.is_dir()}
        inside = [name for name in names
                  if re.match(r"dossier::(%s)::" % "|".join(rooms), name)
                  or not name.startswith("dossier::")]
        self.assertEqual(inside, [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--jobs", type=int, default=2)
    _, rest = parser.parse_known_args(namespace=arguments)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
