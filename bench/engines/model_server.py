#!/usr/bin/env python3
"""A model that answers at once, for every engine of the table: one process, so that its work is nobody's.

    with ModelServer() as server:
        server.play("rlms", plan)        # forgets what that session asked before
        run(url=server.url("rlms"))
        server.heard("rlms")             # when it asked, how often, and its first request

A session is the first part of the address, one for each engine. A request that holds the question of
the run (`Plan.question`) is one of the root: the replies come in their order, the last one again and
again. One that holds `child_question` is of a child, any other a sub-call. Times are of the monotonic
clock, which is the same in all processes. Replies are chat completions, whole or streamed.
"""

import dataclasses
import heapq
import json
import pathlib
import selectors
import socket
import subprocess
import sys
import time
import urllib.request

QUESTION = "Which word of the text comes first?"
CHILD_QUESTION = "Which word begins this part?"

COST = 0.00011  # dollars that each reply says it took


@dataclasses.dataclass
class Plan:
    root: list[str]            # what the root model writes, turn by turn
    child: str = ""            # what every child writes
    sub: str = "yes"           # what every sub-call is answered
    delay: float = 0.0         # seconds until a reply to a child or a sub-call
    root_delay: float = 0.0    # seconds until a reply to the root
    hold: int = 0              # the request of the root with this number (from 1) gets no answer,
    hold_times: int = 1        # so often
    question: str = QUESTION
    child_question: str = CHILD_QUESTION


class ModelServer:
    """The server as its user sees it. Ends with the block."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).resolve())],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())

    def url(self, session: str) -> str:
        return f"http://127.0.0.1:{self.port}/{session}/v1"

    def play(self, session: str, plan: Plan) -> None:
        self._ask(session, json.dumps(dataclasses.asdict(plan)).encode())

    def heard(self, session: str) -> dict:
        """root, child, sub: how many requests; arrived, replied: times of those of the root; held: times of
        those that got no answer and are not counted; first: the body of the first."""
        return json.loads(self._ask(session, None))

    def _ask(self, session: str, body: bytes | None) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{session}/control", data=body)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def __enter__(self) -> "ModelServer":
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.stdin.close()  # which ends it
        self._process.wait()
        self._process.stdout.close()


class _Session:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.counts = {"root": 0, "child": 0, "sub": 0}
        self.arrived: list[float] = []
        self.replied: list[float] = []
        self.first = ""
        self.held: list[float] = []
        self.marks = (plan.question.encode(), plan.child_question.encode())

    def heard(self) -> bytes:
        return json.dumps(self.counts | {"arrived": self.arrived, "replied": self.replied, "held": self.held,
                                         "first": self.first}).encode()

    def answer(self, body: bytes, now: float) -> tuple[str, str, float] | None:
        """(kind, text, seconds to wait); None: no answer at all."""
        plan = self.plan
        if self.marks[0] in body:
            if plan.hold and self.counts["root"] + 1 == plan.hold and len(self.held) < plan.hold_times:
                self.held.append(now)
                return None
            if not self.counts["root"]:
                self.first = body.decode("utf-8", "replace")
            self.counts["root"] += 1
            self.arrived.append(now)
            return "root", plan.root[min(self.counts["root"], len(plan.root)) - 1], plan.root_delay
        kind = "child" if plan.child and self.marks[1] in body else "sub"
        self.counts[kind] += 1
        return kind, plan.child if kind == "child" else plan.sub, plan.delay


def _completion(text: str, request: bytes) -> tuple[bytes, bytes]:
    """(kind of content, body): as the request wants it."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cost": COST}
    head = {"id": "1", "created": 1, "model": "instant"}
    if b'"stream":true' not in request and b'"stream": true' not in request:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return b"application/json", json.dumps(
            head | {"object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    head["object"] = "chat.completion.chunk"
    chunks = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
              {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
    lines = [b"data: " + json.dumps(head | chunk).encode() + b"\n\n" for chunk in chunks]
    return b"text/event-stream", b"".join(lines) + b"data: [DONE]\n\n"


class _Connection:
    def __init__(self, peer: socket.socket) -> None:
        self.peer, self.text, self.told = peer, bytearray(), False
        self.need = 0  # bytes of the request that is on its way; 0: its head is not whole

    def next_request(self) -> tuple[bytes, bytes] | None:
        """(head, body) of a whole request, taken off."""
        if len(self.text) < self.need:
            return None
        end = self.text.find(b"\r\n\r\n")
        if end < 0:
            return None
        head, size = bytes(self.text[:end]).lower(), 0
        for line in head.split(b"\r\n")[1:]:
            if line.startswith(b"content-length:"):
                size = int(line.partition(b":")[2])
            elif line.startswith(b"expect:") and not self.told:
                self.told = True
                self.peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.need = end + 4 + size
        if len(self.text) < self.need:
            return None
        body = bytes(memoryview(self.text)[end + 4:self.need])
        head = bytes(self.text[:end])
        del self.text[:self.need]
        self.need, self.told = 0, False
        return head, body


class _Loop:
    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._due: list[tuple[float, int, _Connection, bytes, _Session, bool]] = []
        self._number = 0
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._selector.register(sys.stdin, selectors.EVENT_READ, None)
        print(self._listener.getsockname()[1], flush=True)

    def run(self) -> None:
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            for key, _ in self._selector.select(wait):
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is self._listener:
                    peer, _ = self._listener.accept()
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._selector.register(peer, selectors.EVENT_READ, _Connection(peer))
                else:
                    self._read(key.data)
            while self._due and self._due[0][0] <= time.monotonic():
                _, _, connection, reply, session, is_root = heapq.heappop(self._due)
                self._send(connection, reply, session if is_root else None)

    def _read(self, connection: _Connection) -> None:
        try:
            block = connection.peer.recv(1 << 20)
        except OSError:
            block = b""
        if not block:
            self._selector.unregister(connection.peer)
            connection.peer.close()
            return
        connection.text += block
        while request := connection.next_request():
            self._handle(connection, *request)

    def _handle(self, connection: _Connection, head: bytes, body: bytes) -> None:
        now = time.monotonic()
        method, path = head.split(b"\r\n", 1)[0].decode().split(" ")[:2]
        name, _, rest = path.lstrip("/").partition("/")
        if rest == "control":
            if method == "POST":
                self._sessions[name] = _Session(Plan(**json.loads(body)))
            return self._send(connection, _http(b"application/json", self._sessions[name].heard()), None)
        session = self._sessions.get(name)
        if session is None or not rest.endswith("/chat/completions"):
            return self._send(connection, _http(b"application/json", b'{"error":{"message":"not here"}}', b"404 Not Found"), None)
        found = session.answer(body, now)
        if found is None:
            return None
        kind, text, delay = found
        reply = _http(*_completion(text, body))
        if delay <= 0:
            return self._send(connection, reply, session if kind == "root" else None)
        self._number += 1
        heapq.heappush(self._due, (now + delay, self._number, connection, reply, session, kind == "root"))
        return None

    def _send(self, connection: _Connection, reply: bytes, root_of: _Session | None) -> None:
        if root_of is not None:
            root_of.replied.append(time.monotonic())
        try:
            connection.peer.sendall(reply)
        except OSError:
            pass  # the client went away; its connection ends with the next read


def _http(kind: bytes, body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body)) + body


if __name__ == "__main__":
    _Loop().run()
