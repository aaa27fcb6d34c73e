"""A stand-in for model servers on loopback: OpenAI's two interfaces and Ollama's, with scripted replies.

    with StandIn(rules=[("dog", '{"name": "Rex"}'), ("", "ok")]) as server:
        run("llm", ..., OPENAI_BASE_URL=server.url)
            server.bodies     # of each request, as text

The first rule whose expression is found in what the user said last answers. GET of one of `pages`
gives it. With a port it has Ollama's model only.
"""

import http.server
import json
import re
import threading

MODELS = ("gpt-4.1-mini", "gpt-4.1")
OLLAMA = "llama3.2:latest"


def said_last(request: dict) -> str:
    turns = request.get("messages") or request.get("input") or ""
    content = turns if isinstance(turns, str) else turns[-1]["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def of_chat(reply: str, request: dict) -> tuple[str, list | dict]:
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    head = {"id": "c", "created": 1, "model": request["model"]}
    if not request.get("stream"):
        return "application/json", head | {"object": "chat.completion", "usage": usage, "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}]}
    chunk = head | {"object": "chat.completion.chunk"}
    return "text/event-stream", [
        chunk | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": reply}, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        chunk | {"choices": [], "usage": usage}, "[DONE]"]


def of_responses(reply: str, request: dict) -> tuple[str, list | dict]:
    part = {"type": "output_text", "text": reply, "annotations": []}
    item = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    whole = {"id": "r", "object": "response", "created_at": 1, "status": "completed", "model": request["model"],
             "output": [item], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
             "usage": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18,
                       "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
    if not request.get("stream"):
        return "application/json", whole
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    events = [{"type": "response.created", "response": whole | {"output": [], "status": "in_progress"}},
              {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
              {"type": "response.output_text.delta", **at, "delta": reply, "logprobs": []},
              {"type": "response.output_text.done", **at, "text": reply, "logprobs": []},
              {"type": "response.output_item.done", "output_index": 0, "item": item},
              {"type": "response.completed", "response": whole}]
    return "text/event-stream", [event | {"sequence_number": number} for number, event in enumerate(events)]


def of_ollama(reply: str, request: dict) -> tuple[str, list | dict]:
    last = {"model": request["model"], "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
            "message": {"role": "assistant", "content": reply}, "prompt_eval_count": 9, "eval_count": 9}
    return "application/x-ndjson", last


POSTS = {"/v1/chat/completions": of_chat, "/v1/responses": of_responses, "/api/chat": of_ollama}


class StandIn:
    def __init__(self, rules: list[tuple[str, str]], pages: dict[str, str] | None = None, port: int = 0) -> None:
        self.bodies: list[str] = []
        self.rules, self.pages = rules, pages or {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, kind: str, body: str, status: int = 200) -> None:
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self) -> None:  # noqa: N802 (name set by the base class)
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.path == "/api/show":
                    return self.answer("application/json", json.dumps({"capabilities": ["completion"], "model_info": {}}))
                if self.path not in POSTS:
                    return self.answer("application/json", json.dumps({"error": self.path}), 404)
                outer.bodies.append(text)
                request = json.loads(text)
                reply = next(reply for rule, reply in outer.rules if re.search(rule, said_last(request)))
                kind, body = POSTS[self.path](reply, request)
                if kind != "text/event-stream":
                    return self.answer(kind, json.dumps(body) + "\n")
                lines = [one if isinstance(one, str) else json.dumps(one) for one in body]
                names = [f"event: {one['type']}\n" if "type" in one else "" for one in body]
                return self.answer(kind, "".join(f"{name}data: {line}\n\n" for name, line in zip(names, lines)))

            def do_GET(self) -> None:  # noqa: N802
                if self.path in outer.pages:
                    return self.answer("text/plain; charset=utf-8", outer.pages[self.path])
                lists = {"/v1/models": {"object": "list", "data": [
                             {"id": name, "object": "model", "created": 1, "owned_by": "x"}
                             for name in ([OLLAMA] if port else MODELS)]},
                         "/api/tags": {"models": [{"name": OLLAMA, "model": OLLAMA, "size": 1, "digest": "0" * 64}]}}
                if self.path in lists:
                    return self.answer("application/json", json.dumps(lists[self.path]))
                return self.answer("application/json", "{}", 404)

            def log_message(self, *_values: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.address}/v1"

    def __enter__(self) -> "StandIn":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
