"""An OpenAI-compatible server on loopback that notes when requests arrive and answers at once."""

import http.server
import json
import threading
import time
from collections.abc import Callable


class RecordingServer:
    """Every request gets the same reply, or what a function of its body says.

        with RecordingServer("```repl\\nFINAL(1)\\n```") as server:
            run("dossier", "ask", "--base-url", server.url, ...)
            server.arrivals   # seconds of the monotonic clock: the head of each POST
        server.bodies     # of each, as bytes
    """

    def __init__(self, reply: str | Callable[[bytes], str], port: int = 0) -> None:
        self.arrivals: list[float] = []
        self.bodies: list[bytes] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # noqa: N802 (name set by the base class)
                outer.arrivals.append(time.monotonic())
                asked = self.rfile.read(int(self.headers["Content-Length"]))
                outer.bodies.append(asked)
                said = reply if isinstance(reply, str) else reply(asked)
                stream = json.loads(asked).get("stream")
                body = _stream(said) if stream else _whole(said)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if stream
                                 else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:  # noqa: N802
                self.send_error(404)

            def log_message(self, *_values: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "RecordingServer":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _whole(reply: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": reply},
              "finish_reason": "stop"}
    return json.dumps({"id": "1", "object": "chat.completion", "model": "instant",
                       "choices": [choice], "usage": _USAGE}).encode()


def _stream(reply: str) -> bytes:
    base = {"id": "1", "object": "chat.completion.chunk", "model": "instant"}
    chunks = [{**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": reply},
                                    "finish_reason": None}]},
              {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
              {**base, "choices": [], "usage": _USAGE}]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) \
        + b"data: [DONE]\n\n"
