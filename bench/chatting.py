"""One turn of a conversation beside curl and llm; what 20 turns send of their context."""

import json
import pathlib
import shutil
import socket

import environment
import recording_server
import timing

TURNS = 20
_ROUNDS = 7


def _chat(dossier: str, url: str, folder: pathlib.Path) -> list[str]:
    return [dossier, "chat", "--base-url", url, "-m", "instant",
            "--conversations-path", str(folder)]


def one_turn(dossier: str, folder: pathlib.Path,
             env: dict[str, str]) -> dict[str, list[timing.Run]]:
    """CPU of a turn of a stored conversation, of curl with the same body, of llm (if installed)."""
    conversations = folder / "chat"
    shutil.rmtree(conversations, ignore_errors=True)
    with recording_server.RecordingServer("Fine.") as server:
        chat = [*_chat(dossier, server.url, conversations), "--conversation", "bench", "Go on."]
        timing.once(chat, env)
        body = folder / "chat-body.json"
        body.write_text(json.dumps({"model": "instant", "stream": True, "messages": [
            {"role": "user", "content": "Go on."}]}), "utf-8")
        curl = ["curl", "-sS", "-H", "Content-Type: application/json", "-d", f"@{body}",
                f"{server.url}/chat/completions"]
        stateless = [*_chat(dossier, server.url, conversations), "--no-log", "Go on."]
        commands = {"turn": chat, "stateless": stateless, "curl": curl}
        environments = dict.fromkeys(commands, env)
        if not environment.prepare_llm():
            home = folder / "llm"
            home.mkdir(exist_ok=True)
            (home / "extra-openai-models.yaml").write_text(
                f"- model_id: instant\n  model_name: instant\n  api_base: {server.url}\n", "utf-8")
            commands["llm"] = [environment.LLM, "-m", "instant", "--key", "none", "Go on."]
            environments["llm"] = env | {"LLM_USER_PATH": str(home)}
        return timing.interleaved(commands, _ROUNDS, environments)


def until_sent(dossier: str, folder: pathlib.Path,
               env: dict[str, str]) -> dict[str, list[timing.Run]]:
    """A stateless turn and the third one of a conversation, each until its request's first byte."""
    conversations = folder / "chat-first-byte"
    shutil.rmtree(conversations, ignore_errors=True)
    talk = ["--conversation", "bench", "Go on."]
    with recording_server.RecordingServer("Fine.") as server:
        for _ in range(2):
            timing.once([*_chat(dossier, server.url, conversations), *talk], env)
    body = folder / "chat-body.json"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        chat = [*_chat(dossier, url, conversations), "--retries", "0"]
        body.write_text(json.dumps({"model": "instant", "stream": True, "messages": [
            {"role": "user", "content": "Go on."}]}), "utf-8")
        commands = {"turn": [*chat, *talk], "stateless": [*chat, "--no-log", "Go on."],
                    "curl": ["curl", "-sS", "-H", "Content-Type: application/json", "-d",
                             f"@{body}", f"{url}/chat/completions"]}
        runs: dict[str, list[timing.Run]] = {name: [] for name in commands}
        for _ in range(3 * _ROUNDS):
            for name, argv in commands.items():
                runs[name].append(timing.until_sent(argv, listener, env))
    return runs


def sent_copies(dossier: str, folder: pathlib.Path, env: dict[str, str]) -> tuple[int, int]:
    """(bytes of context that TURNS turns sent, bytes of one copy), of a frozen context."""
    conversations = folder / "chat-copies"
    shutil.rmtree(conversations, ignore_errors=True)
    with recording_server.RecordingServer("Fine.") as server:
        for number in range(TURNS):
            extra = ["--exec", "seq 1 400"] if number == 0 else []
            timing.once([*_chat(dossier, server.url, conversations), "--conversation", "bench",
                         *extra, f"Turn {number}."], env)
        marker = "--- Context: CLI Command 1 ---"
        texts = [message["content"] for body in server.bodies
                 for message in json.loads(body)["messages"] if marker in message["content"]]
    return sum(map(len, texts)), len(texts[0])
