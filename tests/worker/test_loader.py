"""The loader of the worker's Python, in an interpreter of its own: it must be the first to import."""

import pathlib
import subprocess
import sys
import unittest

WORKERS = pathlib.Path(__file__).resolve().parents[2] / "workers" / "python"

_START = f"""
import pathlib, sys, types
fake = sys.modules["_dossier"] = types.ModuleType("_dossier")
fake.BridgeError = type("BridgeError", (Exception,), {{}})
sources = {{path.stem: path.read_text(encoding="utf-8")
           for path in pathlib.Path({str(WORKERS)!r}).glob("*.py")}}
for name in [name for name in sys.modules if name in ("random", "typing", "statistics")]:
    raise SystemExit(f"{{name}} was there before")
loader = types.ModuleType("dossier_loader")
sys.modules["dossier_loader"] = loader
exec(sources["dossier_loader"], loader.__dict__)
codes = {{name: compile(text, f"<dossier:{{name}}>", "exec", dont_inherit=True)
         for name, text in sources.items()}}
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _START + code], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class LoaderTest(unittest.TestCase):
    def test_without_code_the_sources_are_compiled(self) -> None:
        for codes in ("codes", "{}"):
            out = run(f"loader.load({codes}, sources, [])\n"
                      "import sys\n"
                      "print(sys.modules['dossier_doc'].Doc.of.__code__.co_filename,"
                      " all(name in sys.modules for name in sources))")
            self.assertEqual(out, "<dossier:dossier_doc> True\n", codes)

    def test_what_a_first_block_does_without_is_not_loaded(self) -> None:
        out = run("loader.load(codes, sources, [])\n"
                  "print([name for name in loader._LATER if name in sys.modules])")
        self.assertEqual(out, "[]\n")

    def test_a_stand_in_becomes_the_module_when_it_is_used(self) -> None:
        out = run("loader.load(codes, sources, [])\n"
                  "stand_in = sys.modules['dossier_column'].statistics\n"
                  "print(stand_in.fmean([1, 3]), stand_in.median([5]))\n"
                  "import statistics\n"
                  "print(statistics is not stand_in, statistics.fmean is stand_in.fmean)")
        self.assertEqual(out, "2.0 5\nTrue True\n")

    def test_a_block_loads_no_linecache_and_a_traceback_finds_its_lines(self) -> None:
        out = run("loader.load(codes, sources, [])\n"
                  "fake.features, fake.context_count = dict, int\n"
                  "fake.dict_version, fake.write = id, lambda *_: None\n"
                  "runtime = sys.modules['dossier_runtime']\n"
                  "shown = sys.stdout\nruntime.start_session()\n"
                  "print(runtime.run_block('x = 1\\ny = 2', 1)['status'], 'linecache' in sys.modules,"
                  " runtime.run_block('z = (\\n  x / 0)', 2)['error']['source'],"
                  " 'linecache' in sys.modules, file=shown, flush=True)")
        self.assertEqual(out, "ok False x / 0) True\n")

    def test_a_rehearsal_leaves_nothing_behind_at_whatever_step_it_ends(self) -> None:  # SBX-3, SBX-E11
        out = run("loader.load(codes, sources, [])\n"
                  "import builtins, io, os, signal, threading\n"
                  "text = 'a line\\nanother line\\n'\n"
                  "fake.features, fake.context_count = dict, lambda: 1\n"
                  "fake.context_info = lambda _: {'name': 'text', 'bytes': len(text),"
                  " 'characters': len(text), 'meta': None}\n"
                  "fake.context_view = lambda _: memoryview(text.encode())\n"
                  "fake.context_text, fake.dict_version = lambda _: text, id\n"
                  "printed = []\n"
                  "fake.write = lambda _, data: printed.append(bytes(data))\n"
                  "def call(*_):\n"
                  "    raise RuntimeError('there is no host')\n"
                  "fake.call = call\n"
                  "def state():\n"
                  "    return [set(sys.modules), list(sys.meta_path), sys.stdout, sys.stderr, sys.stdin,\n"
                  "            sys.modules['__main__'], threading.excepthook, signal.getsignal(signal.SIGINT),\n"
                  "            *(dict(vars(module)) for module in (builtins, io, os))]\n"
                  "before, ends = state(), []\n"
                  "for most in range(5):\n"
                  "    steps, done = sys.modules['dossier_runtime'].rehearse(), 0\n"
                  "    while done < most and next(steps, 'ended') is None:\n"
                  "        done += 1\n"
                  "    del steps\n"
                  "    ends.append((done, state() == before, len(printed)))\n"
                  "print(ends, sys.modules['dossier_runtime']._session)")
        self.assertEqual(out, "[(0, True, 0), (1, True, 0), (2, True, 1), (3, True, 2), (3, True, 3)] None\n")

    def test_the_rest_is_imported_a_module_a_step(self) -> None:
        out = run("rest = loader.load(codes, sources, ['json', 'colorsys', 'no_such', 'sched'])\n"
                  "print(next(rest), 'colorsys' in sys.modules, 'sched' in sys.modules)\n"
                  "print(next(rest), 'sched' in sys.modules, next(rest), next(rest))")
        self.assertEqual(out, "True True False\nTrue True False False\n")

    def test_random_is_seeded_whenever_it_is_imported(self) -> None:  # SBX-A13
        first = run("loader.seed_random(7)\nimport random\nprint(random.random())")
        second = run("import random\nloader.seed_random(7)\nprint(random.random())")
        other = run("loader.seed_random(7)\nloader.seed_random(8)\nimport random\n"
                    "print(random.random(), len([f for f in sys.meta_path"
                    " if isinstance(f, loader.OnImport)]))")
        self.assertEqual(first, second)
        self.assertNotEqual(first.strip(), other.split()[0])
        self.assertEqual(other.split()[1], "0")


if __name__ == "__main__":
    unittest.main()
