"""A stub of the Messages API on loopback, in this process. It answers every request with one line and keeps the requests."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

HOLD = "please wait"
"""The answer to a prompt with these words waits for `release`."""

TOOL = "please touch"
"""A prompt with these words is answered with a tool call: a shell command that creates the file `touched`."""


_TOUCH = {"command": "touch touched", "description": "Make a file"}


class Messages:
    """The API, for as long as the context is entered."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def address(self) -> str:
        """The address at which it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def prompts(self) -> list[str]:
        """The text of each turn that the model would have read, oldest first."""
        return [text for text in map(_newest, self.bodies) if text]

    @property
    def wakes(self) -> list[str]:
        """The prompts that a mod submitted by itself."""
        return [text for text in self.prompts if "plugin sent a message:" in text]

    def release(self) -> None:
        """Release the answers that wait."""
        self._released.set()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Store a request. Returns the answer of the model: a block of text, or a tool call."""
        self.bodies.append(body)
        last = _newest(body).rpartition("\n")[2]
        if HOLD in last:
            self._released.wait(60)
        if TOOL in last:
            return {"type": "tool_use", "id": f"toolu_{len(self.bodies)}", "name": "Bash", "input": _TOUCH}
        return {"type": "text", "text": f"Understood, {len(self.bodies)}."}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _newest(body: dict[str, Any]) -> str:
    """The texts of the last message of a user, one per line."""
    users = [message for message in body.get("messages", []) if message.get("role") == "user"]
    content = users[-1]["content"] if users else []
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


def _events(model: str, block: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if block["type"] == "tool_use":
        begun, reason = block | {"input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        begun, reason, delta = block | {"text": ""}, "end_turn", {"type": "text_delta", "text": block["text"]}
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message: dict[str, Any] = {
        "id": "msg_of_the_stub",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": begun}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 9}}),
        ("message_stop", {}),
    ]


def _handler(messages: Messages) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(b"{}", "application/json")

        def do_GET(self) -> None:
            self._answer(b"{}", "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw)
            if not self.path.startswith("/v1/messages"):
                self._answer(b"{}", "application/json")
                return
            events = _events(body.get("model", ""), messages.answer(body))
            streamed = "".join(
                f"event: {name}\ndata: {json.dumps({'type': name, **told})}\n\n" for name, told in events
            )
            self._answer(streamed.encode(), "text/event-stream")

        def _answer(self, content: bytes, kind: str) -> None:
            try:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)
            except OSError:
                pass  # the client went away, as it does on Esc

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
