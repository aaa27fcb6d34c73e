"""The peers' private Python environment, made on first use."""

import os
import pathlib
import subprocess
import sys
import zipfile

_FOLDER = pathlib.Path(os.path.expanduser("~/.cache/dossier/bench-venv"))
_PACKAGES = ["rlms==0.1.3", "droste==0.26.0", "files-to-prompt==0.6", "tiktoken==0.14.0", "tantivy==0.27.0",
             "vincio==7.11.0", "httpx==0.28.1", "aiohttp==3.14.5", "bm25s==0.3.16", "redcon==1.18.0"]
_DONE = _FOLDER / "dossier-bench-packages"
_LLM_FOLDER = _FOLDER.with_name("bench-llm")  # apart: its many plug-in points slow nothing else
_LLM_PACKAGE = "llm==0.36"
LLM = str(_LLM_FOLDER / "bin/llm")
_WORDLLAMA_PACKAGE = "wordllama==0.4.0.post1"
_NPM_FOLDER = pathlib.Path(os.path.expanduser("~/.cache/dossier/bench-npm"))
_REPOMIX_PACKAGE = "repomix@1.14.0"
REPOMIX = str(_NPM_FOLDER / "node_modules/.bin/repomix")
FILES_TO_PROMPT = str(_FOLDER / "bin/files-to-prompt")
REDCON = str(_FOLDER / "bin/redcon")
PYTHON = str(_FOLDER / "bin/python3")


def _install(commands: list[list[str]]) -> str:
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            return f"the peers could not be installed: {command[0]}: {error.strerror}"
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            return f"the peers could not be installed: {lines[-1]}"
    return ""


def prepare_npm() -> tuple[str, str]:
    """(folder of modules, what went wrong or ""): gpt-tokenizer, by npm."""
    folder = _FOLDER.with_name("bench-npm")
    modules = folder / "node_modules"
    if (modules / "gpt-tokenizer/package.json").exists():
        return str(modules), ""
    folder.mkdir(parents=True, exist_ok=True)
    return str(modules), _install([["npm", "install", "--silent", "--prefix", str(folder),
                                    "gpt-tokenizer@4.0.0"]])


def prepare_repository() -> tuple[str, str]:
    """(folder of modules, what went wrong or ""): edn-data, gray-matter and yaml, by npm."""
    folder = _FOLDER.with_name("bench-npm-repository")
    modules = folder / "node_modules"
    if all((modules / name).exists() for name in ("edn-data", "gray-matter", "yaml")):
        return str(modules), ""
    folder.mkdir(parents=True, exist_ok=True)
    return str(modules), _install([["npm", "install", "--silent", "--prefix", str(folder),
                                    "edn-data@1.2.2", "gray-matter@4.0.3", "yaml@2.9.1"]])


def prepare() -> str:
    """Installs the peers from PyPI unless they are there. Returns what went wrong, or ""."""
    wanted = "\n".join(_PACKAGES)
    if _DONE.exists() and _DONE.read_text() == wanted:
        return ""
    print(f"installing {', '.join(_PACKAGES)} from PyPI into {_FOLDER}", file=sys.stderr)
    problem = _install([["/usr/bin/python3", "-m", "venv", str(_FOLDER)],
                        [PYTHON, "-m", "pip", "install", "--quiet",
                         "--disable-pip-version-check", *_PACKAGES]])
    if problem:
        return problem
    _DONE.write_text(wanted)
    return ""


def prepare_wordllama() -> tuple[str, str]:
    """(folder of weights.safetensors and tokenizer.json, what went wrong or ""), from PyPI."""
    folder = _FOLDER.with_name("bench-wordllama")
    weights, tokenizer = folder / "weights.safetensors", folder / "tokenizer.json"
    if weights.exists() and tokenizer.exists():
        return str(folder), ""
    print(f"fetching {_WORDLLAMA_PACKAGE} from PyPI into {folder}", file=sys.stderr)
    problem = _install([["/usr/bin/python3", "-m", "pip", "download", "--quiet", "--no-deps",
                         "--only-binary", ":all:", "-d", str(folder), _WORDLLAMA_PACKAGE]])
    if problem:
        return "", problem
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
        weights.write_bytes(package.read("wordllama/weights/l2_supercat_256.safetensors"))
        tokenizer.write_bytes(package.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json"))
    return str(folder), ""


def prepare_llm() -> str:
    """Installs llm from PyPI unless it is there. Returns what went wrong, or ""."""
    if os.access(LLM, os.X_OK):
        return ""
    print(f"installing {_LLM_PACKAGE} from PyPI into {_LLM_FOLDER}", file=sys.stderr)
    return _install([["/usr/bin/python3", "-m", "venv", str(_LLM_FOLDER)],
                     [str(_LLM_FOLDER / "bin/python3"), "-m", "pip", "install", "--quiet",
                      "--disable-pip-version-check", _LLM_PACKAGE]])


def prepare_repomix() -> str:
    """Installs repomix from npm unless it is there. Returns what went wrong, or ""."""
    done = _NPM_FOLDER / "dossier-bench-packages"
    if done.exists() and done.read_text() == _REPOMIX_PACKAGE and os.access(REPOMIX, os.X_OK):
        return ""
    print(f"installing {_REPOMIX_PACKAGE} from npm into {_NPM_FOLDER}", file=sys.stderr)
    _NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        ended = subprocess.run(["npm", "install", "--silent", "--no-fund", "--no-audit",
                                "--prefix", str(_NPM_FOLDER), _REPOMIX_PACKAGE],
                               capture_output=True, text=True, check=False)
    except OSError as error:
        return f"npm: {error.strerror}"
    if ended.returncode != 0:
        lines = (ended.stderr or ended.stdout).strip().splitlines() or ["no message"]
        return f"repomix could not be installed: {lines[-1]}"
    done.write_text(_REPOMIX_PACKAGE)
    return ""
