"""Loads the worker's own modules, and the standard library that code will ask for.

Run in the zygote, before any other module of ours:

    rest = load(code, sources, names)   # our modules, and what they need at once
    next(rest)                          # imports one more of `names`; False when all are there

A short command waits for its first block, so only what every block needs is loaded at once. What our
modules use now and then (statistics, traceback, ...) is a stand-in until then. The rest is imported
while the zygote is idle; a session that was forked before imports it by itself: the standard library
is readable in the sandbox, and the extension modules are mapped already (preload.txt).
"""

import _frozen_importlib
import gc
import importlib
import sys
from _frozen_importlib_external import PathFinder

ModuleType = type(sys)

# What our modules name and a first block does without.
_LATER = ("asyncio", "csv", "difflib", "inspect", "linecache", "random", "statistics", "traceback",
          "typing")


class Later(ModuleType):
    """Stands for a module until one of its names is needed."""

    def __getattr__(self, name):
        if name.startswith("__"):  # what `import` itself looks at
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        real = _import_real(self)
        value = getattr(real, name)
        self.__dict__.update({key: item for key, item in vars(real).items()
                              if not key.startswith("__")})
        return value


class Finder:
    """Finds our modules among the files compiled into the program.

    Their code objects carry <dossier:NAME> as file name, so that tracebacks can leave them out.
    """

    def __init__(self, code, sources):
        self._code = code
        self._sources = sources

    def find_spec(self, name, path=None, target=None):
        if name in self._sources:
            return _frozen_importlib.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        code = self._code.get(name) or compile(self._sources[name], f"<dossier:{name}>", "exec",
                                               dont_inherit=True)
        exec(code, module.__dict__)


class OnImport:
    """Hands a module to `action` when code imports it."""

    def __init__(self, name, action):
        self.name = name
        self._action = action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def run_and_act(module):
            run(module)
            self._action(module)

        spec.loader.exec_module = run_and_act
        return spec


def load(code, sources, names):
    """Loads our modules: from `code` (name to code object), else from `sources` (name to text).

    Gives an iterator that imports one module of `names` a step. Extension modules are not imported
    by name, but by what needs them.
    """
    gc.disable()
    stand_ins = [_stand_in(name) for name in _LATER if name not in sys.modules]
    finder = Finder(code, sources)
    sys.meta_path.insert(0, finder)
    try:
        for name in sorted(sources):
            importlib.import_module(name)
    finally:
        sys.meta_path.remove(finder)
        for stand_in in stand_ins:
            _remove(stand_in)
    # What exists is left alone by the collector, so that forks do not copy it.
    gc.freeze()
    gc.enable()
    return preload(names)


def preload(names):
    """Imports one of `names` a step. One that is not installed is skipped."""
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except Exception:  # code that imports it is told why
                continue
            yield True
    gc.collect()
    gc.freeze()
    while True:
        yield False


def when_imported(name, action):
    """Calls action(module), at once or when the module is imported; the last action of it counts."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        action(loaded)
        return
    others = [finder for finder in sys.meta_path if getattr(finder, "name", None) != name
              or not isinstance(finder, OnImport)]
    sys.meta_path[:] = [OnImport(name, action), *others]


def seed_random(seed):
    """Seeds `random`, at once or when it is imported."""
    when_imported("random", lambda module: module.seed(seed))


def _stand_in(name):
    module = sys.modules[name] = Later(name)
    if name == "typing":  # of ours only for annotations, which nobody reads in the worker
        module.Any = object
        module.overload = lambda function: function
    return module


def _remove(stand_in):
    if sys.modules.get(stand_in.__name__) is stand_in:
        del sys.modules[stand_in.__name__]


def _import_real(stand_in):
    _remove(stand_in)
    return importlib.import_module(stand_in.__name__)
