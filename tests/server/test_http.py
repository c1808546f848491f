from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from openapi_spec_validator import validate

from brief.capabilities.table import CAPABILITIES
from brief.core.model.brief import Brief
from brief.core.model.wire import from_json, from_plain
from brief.server.envelope import MOST_BODY
from sandbox import Lab
from serving import ask, end_all, exchange, given, lease, leave_notice, serve, write_policy

COMMANDS = [one for one in CAPABILITIES if one.kind == "command"]


@pytest.fixture(scope="module")
def held() -> Iterator[Lab]:
    """A repository with one open episode and a server that answers by its socket and by TCP."""
    with Lab() as lab:
        lab.commit()
        leave_notice(lab)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        write_policy(lab, f"version: 1\nserver:\n  port: {port}\n")
        assert lab.majordomus("trust").returncode == 0
        lab.start_server()
        for path, session in (("/episodes", "here"), ("/episodes", "closed"), ("/episodes/close", "closed")):
            assert ask(lab, "POST", path, {"session": session}).status == 200
        yield lab
    end_all()


class Told:
    """An answer taken apart."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The sentence of a refusal; every refusal is one object of the same three fields."""
        assert set(self.json) == {"error", "kind", "exit_code"}
        assert self.headers["content-type"] == "application/json"
        return str(self.json["error"])


def _call(lab: Lab, method: str, target: str, body: bytes = b"", *heads: str, tcp: bool = False) -> Told:
    record = lease(lab)
    address: Any = record["socket"]
    host = "x"
    if tcp:
        host = record["tcp"].removeprefix("http://")
        address = ("127.0.0.1", int(host.rpartition(":")[2]))
    given = [head.partition(":")[0].lower() for head in heads]
    lines = [f"{method} {target} HTTP/1.1", *heads, "connection: close"]
    if "host" not in given:
        lines.insert(1, f"host: {host}")
    if body and "content-length" not in given and "transfer-encoding" not in given:
        lines.append(f"content-length: {len(body)}")
    told = Told(exchange(address, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body))
    assert told.headers["majordomus-epoch"] == str(record["epoch"])
    return told


def _get(lab: Lab, path: str, query: str = "", *heads: str, tcp: bool = False) -> Told:
    root = f"root={quote(str(lab.repo))}"
    return _call(lab, "GET", f"/api/v1{path}?{root}{'&' + query if query else ''}", b"", *heads, tcp=tcp)


def _post(lab: Lab, path: str, body: Any, kind: str = "application/json") -> Told:
    payload = body if isinstance(body, bytes) else json.dumps({"root": str(lab.repo)} | body).encode()
    return _call(lab, "POST", f"/api/v1{path}", payload, f"content-type: {kind}")


# ---------------------------------------------------------------- every route


@pytest.mark.parametrize("capability", [one for one in CAPABILITIES if one.kind == "query"], ids=lambda one: one.id)
def test_every_query_answers_in_its_shape(capability: Any, held: Lab) -> None:
    """Every route answers what its capability declares."""
    told = _get(held, capability.http.path, urlencode(given(capability)))
    assert told.status == 200
    from_plain(capability.document or capability.output, told.json)


def test_the_commands_answer_in_their_shapes(held: Lab) -> None:
    """An episode from its opening to its end: what each command answers is what its capability declares."""
    session = {"session": "whole"}
    calls: dict[str, dict[str, Any]] = {
        "/episodes": session | {"provider": "claude-code", "state": "busy", "pid": 1},
        "/tasks": session | {"title": "fix login", "next": "write a test", "scope": ["a.txt"]},
        "/tasks/next": session | {"action": "run it"},
        "/tasks/done": session,
        "/episodes/close": session | {"reason": "merged"},
        "/queue": {},
    }
    by_path = {one.http.path: one for one in COMMANDS}
    for path, body in calls.items():
        told = _post(held, path, body)
        assert told.status == 200, told.body
        from_plain(by_path[path].output, told.json)


@pytest.mark.parametrize(
    ("form", "kind"),
    [("json", "application/json"), ("text", "text/plain"), ("line", "text/plain"), ("prompt", "text/plain")],
)
def test_a_brief_comes_in_every_form(form: str, kind: str, held: Lab) -> None:
    """The media type names the form, and a header says whether everything was read."""
    told = _get(held, "/brief", f"format={form}")
    assert (told.status, told.headers["content-type"].partition(";")[0]) == (200, kind)
    assert told.headers["majordomus-read"] in ("in-full", "in-part")


def test_fifty_callers_at_once_share_one_composing(held: Lab) -> None:
    """All who ask at the same moment get the same brief: far fewer are composed than asked for."""
    with ThreadPoolExecutor(50) as callers:
        told = list(callers.map(lambda _: ask(held, "GET", "/brief", session="here"), range(50)))
    assert [one.status for one in told] == [200] * 50
    assert len({one.json()["generated_at"] for one in told}) < 10


def test_head_is_get_without_its_body(held: Lab) -> None:
    """HEAD answers with the headers of GET, its length too, on the socket and over TCP."""
    target = f"/api/v1/brief?root={held.repo}&format=line&width=0"
    for tcp in (False, True):
        told = _call(held, "HEAD", target, tcp=tcp)
        assert (told.status, told.body, told.headers["content-type"]) == (200, b"", "text/plain; charset=utf-8")
        assert int(told.headers["content-length"]) > 0


@pytest.mark.parametrize("session", ["%0a%1b", "..%2f..%2fx", "%ff", "a" * 200, "%E2%80%AE"])
def test_any_session_id_gets_a_brief(session: str, held: Lab) -> None:
    """A client may call itself anything; the brief comes and stays well-formed."""
    told = _get(held, "/brief", f"session={session}")
    assert told.status == 200
    from_json(Brief, told.body)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("path", "query", "said"),
    [
        ("/brief", "fromat=text", "unknown parameter fromat; did you mean format?"),
        ("/peers", "zzz=1", "unknown parameter zzz; choose from root, session"),
        ("/brief", "session=%00", "session holds a NUL or half of a surrogate pair, which is no text"),
        ("/brief", "width=wide", "width wide is not a whole number"),
        ("/brief", "width=-1", "width -1 is too small; give 0 or more"),
        ("/brief", "budget=0", "budget 0 is too small; give 1 or more"),
        ("/brief", "section=weather", "section weather is unknown; choose from state, peers"),
        ("/brief", "format=xml", "format xml is unknown; choose from text, json, prompt, line"),
        ("/brief", "local=perhaps", "local perhaps is not true or false"),
        ("/state", "session=" + "x" * 201, "is too long; give 200 characters or fewer"),
        ("/episodes", "closed=&x=1", "closed is not true or false"),
        ("/episodes", "closed=&x=1", "unknown parameter x; choose from"),
    ],
)
def test_a_wrong_query_is_refused_by_name(path: str, query: str, said: str, held: Lab) -> None:
    """400 with a sentence that names the parameter, and the nearest known one for a misspelt name."""
    told = _get(held, path, query)
    assert told.status == 400
    assert said in told.error
    assert (told.json["kind"], told.json["exit_code"]) == ("UsageError", 2)


@pytest.mark.parametrize("root", ["", "root=&"])
@pytest.mark.parametrize(
    "capability", [one for one in CAPABILITIES if one.http.method == "GET"], ids=lambda one: one.id
)
def test_without_a_root_the_primary_checkout_is_meant(capability: Any, root: str, held: Lab) -> None:
    """A call that names no checkout gets the answer about the primary one."""
    query = urlencode(given(capability))
    told = _call(held, "GET", f"/api/v1{capability.http.path}?{root}{query}")
    assert (told.status, told.json.keys()) == (200, _get(held, capability.http.path, query).json.keys())


def test_a_brief_without_a_root_is_of_the_primary_checkout(held: Lab) -> None:
    """Also where linked worktrees are there."""
    assert _call(held, "GET", "/api/v1/brief").json["repository"]["root"] == str(held.repo)


def test_a_command_without_a_root_is_about_the_primary_checkout(held: Lab) -> None:
    """A session that is opened so works there."""
    payload = json.dumps({"session": "rootless"}).encode()
    told = _post(held, "/episodes", payload)
    assert (told.status, told.json["episode"]["checkout"]) == (200, str(held.repo))
    _post(held, "/episodes/close", {"session": "rootless"})


@pytest.mark.parametrize("capability", COMMANDS, ids=lambda one: one.id)
def test_an_unknown_key_of_a_body_is_refused_by_name(capability: Any, held: Lab) -> None:
    """A misspelt key is never ignored; the nearest known one is named."""
    told = _post(held, capability.http.path, {"rooot": "x"})
    assert told.status == 400
    assert "unknown parameter rooot; did you mean root?" in told.error


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"", "application/json", "the body is missing; it takes root, session, title"),
        (
            b"{",
            "application/json",
            "the body is not JSON (Expecting property name enclosed in double quotes at character 1)",
        ),
        (b"[" * 100_000, "application/json", "the body cannot be parsed"),
        (b"\xff\xfe\xfa", "application/json", "the body cannot be parsed"),
        (b"[]", "application/json", "the body is not a JSON object sent as application/json"),
        (b"null", "application/json", "the body is not a JSON object"),
        (b'"root"', "application/json", "the body is not a JSON object"),
        (b'{"root": "/"}', "text/plain", "the body is not a JSON object sent as application/json"),
        (b"root=/", "application/x-www-form-urlencoded", "the body is not a JSON object sent as application/json"),
        (b'{"root": 7, "title": "x"}', "application/json", "root 7 is not a text"),
        (b'{"root": "/", "title": ["x"]}', "application/json", "title ['x'] is not a text"),
        (b'{"root": "/", "title": "x", "scope": "a"}', "application/json", "scope a is not a list"),
        (b'{"root": "/", "title": "x", "scope": [1]}', "application/json", "scope 1 is not a text"),
        (
            rb'{"root": "/\u0000", "title": "x"}',
            "application/json",
            "root holds a NUL or half of a surrogate pair, which is no text",
        ),
        (
            rb'{"root": "/", "title": "\ud800"}',
            "application/json",
            "title holds a NUL or half of a surrogate pair, which is no text",
        ),
        (rb'{"root": "/", "title": "x", "scope": ["\udfff"]}', "application/json", "scope holds a NUL or half of a"),
    ],
)
def test_a_body_that_is_none_is_refused(body: bytes, kind: str, said: str, held: Lab) -> None:
    """A body that is not a JSON object gets a 400 and a sentence, and the server goes on."""
    told = _post(held, "/tasks", body, kind)
    assert told.status == 400, told.body
    assert said in told.error
    assert told.json["exit_code"] == 2


def test_a_command_takes_nothing_from_the_query(held: Lab) -> None:
    """A parameter in the wrong place is refused by name and never ignored."""
    payload = json.dumps({"root": str(held.repo), "session": "here"}).encode()
    told = _call(held, "POST", "/api/v1/episodes?provider=x", payload, "content-type: application/json")
    assert told.status == 400
    assert "provider is not a parameter of the query; /api/v1/episodes takes its input in the body" in told.error


@pytest.mark.parametrize("heads", [(), ("transfer-encoding: chunked",)])
def test_a_body_over_the_bound_is_not_read(heads: tuple[str, ...], held: Lab) -> None:
    """A megabyte is read, and no byte more, whether its length was announced or not."""
    for length, status in ((MOST_BODY, 400), (MOST_BODY + 1, 413)):
        body = b'{"root": "' + b"x" * (length - 12) + b'"}'
        sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if heads else body
        told = _call(held, "POST", "/api/v1/tasks", sent, "content-type: application/json", *heads)
        assert told.status == status
    assert "a body may have at most 1,048,576 bytes" in told.error


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/nope",
        "/api/v1/brief/",
        "/api/v2/brief",
        "/docs",
        "//x/api/v1/brief",
        "/%2e%2e/etc",
    ],
)
def test_an_unknown_route_is_404(path: str, held: Lab) -> None:
    """Nothing is guessed or redirected: the sentence names the list of routes."""
    told = _call(held, "GET", path)
    assert told.status == 404
    assert told.error.endswith("Not Found; /api/v1/openapi.json lists all routes")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/brief", "GET, HEAD"),
        ("POST", "/brief", "GET, HEAD"),
        ("PUT", "/episodes", "GET, HEAD, POST"),
        ("GET", "/tasks", "POST"),
        ("HEAD", "/tasks", "POST"),
        ("OPTIONS", "/state", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_405(method: str, path: str, allow: str, held: Lab) -> None:
    """The answer names every method that the path has."""
    told = _call(held, method, f"/api/v1{path}")
    assert (told.status, told.headers["allow"]) == (405, allow)
    if method != "HEAD":
        assert "Method Not Allowed" in told.error


@pytest.mark.parametrize("root", ["/", "/nowhere", "relative", "a\\xffb", "\x1b[2J"])
def test_a_root_that_is_no_checkout_of_this_repository_is_refused(root: str, held: Lab) -> None:
    """A server answers for the checkouts of its own repository alone."""
    told = _call(held, "GET", f"/api/v1/brief?root={quote(root)}")
    assert (told.status, told.json["kind"], told.json["exit_code"]) == (400, "RepositoryError", 2)
    assert "\x1b" not in told.error


def test_another_repository_is_refused(held: Lab, lab: Lab) -> None:
    """The wrong server says whose it is."""
    told = _call(held, "GET", f"/api/v1/brief?root={lab.repo}")
    assert (told.status, told.error) == (400, f"{lab.repo} is not a checkout of {held.common_dir}")


@pytest.mark.parametrize(
    ("path", "body", "status", "kind"),
    [
        ("/tasks", {"session": "nobody", "title": "x"}, 404, "NotFoundError"),
        ("/tasks/done", {"session": "here"}, 404, "NotFoundError"),
        ("/tasks", {"session": "closed", "title": "x"}, 409, "ConflictError"),
        ("/tasks", {"session": "here", "title": " "}, 400, "UsageError"),
        ("/episodes", {"session": "../x"}, 400, "UsageError"),
        ("/episodes", {"session": "x", "pid": 0}, 400, "UsageError"),
        ("/episodes", {"session": "x", "state": "asleep"}, 400, "UsageError"),
    ],
)
def test_a_fault_has_its_status(path: str, body: dict[str, Any], status: int, kind: str, held: Lab) -> None:
    """Missing, conflicting and wrong input differ in status and kind."""
    told = _post(held, path, body)
    assert (told.status, told.json["kind"]) == (status, kind), told.error
    assert told.error


def test_a_fault_that_nobody_foresaw_is_a_sentence(lab: Lab) -> None:
    """The answer is 500 with its kind, the traceback is in the log, and the server goes on."""
    serve(
        lab,
        "import brief.service as d\nasync def brief(self, *a, **k): raise ZeroDivisionError('x')\nd.RepositoryService.brief = brief",
    )
    told = _get(lab, "/brief")
    assert (told.status, told.error) == (500, "/api/v1/brief failed with ZeroDivisionError: x")
    assert _get(lab, "/peers").status == 200
    log = [json.loads(line) for line in (lab.state / "server.log").read_text().splitlines()]
    assert any("ZeroDivisionError" in line.get("fault", "") for line in log)


# ---------------------------------------------------------------- the description


def test_the_description_is_valid_and_names_every_capability(held: Lab) -> None:
    """OpenAPI tells every route by the id of its capability, each with the form of its refusals, none with 422."""
    document = _call(held, "GET", "/api/v1/openapi.json").json
    validate(document)
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    told = {operation["operationId"]: operation for operation in operations}
    assert set(told) == {one.id for one in CAPABILITIES} | {"server.status", "server.stop"}
    for operation in operations:
        assert set(operation["responses"]) == {"200", "400", "default"}
        refusal = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert refusal == {"$ref": "#/components/schemas/Problem"}
    assert "422" not in json.dumps(document)
    assert "ValidationError" not in document["components"]["schemas"]


def test_the_description_tells_the_shape_of_a_brief(held: Lab) -> None:
    """A brief is rendered by us, and still its JSON is described."""
    document = _call(held, "GET", "/api/v1/openapi.json").json
    content = document["paths"]["/api/v1/brief"]["get"]["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Brief"}
    assert "text/plain" in content
    parameters = {p["name"]: p for p in document["paths"]["/api/v1/brief"]["get"]["parameters"]}
    assert parameters["root"]["required"] is False
    assert "default: the server's primary checkout" in parameters["root"]["description"]
    assert set(parameters["format"]["schema"]["enum"]) == {"text", "json", "prompt", "line"}


# ---------------------------------------------------------------- over TCP


def test_over_tcp_everything_can_be_read(held: Lab) -> None:
    """The port of a trusted policy answers as the socket does."""
    told = _get(held, "/peers", tcp=True)
    assert (told.status, told.json["name"]) == (200, "peers")
    port = lease(held)["tcp"].rpartition(":")[2]
    assert _get(held, "/peers", "", f"host: localhost:{port}", tcp=True).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example:80", "localhost.evil:1", "[::1]:80", "", "@127.0.0.1"],
)
def test_another_host_is_refused_over_tcp(host: str, held: Lab) -> None:
    """A name that somebody made lead to this machine opens nothing: no rebinding of DNS."""
    told = _get(held, "/peers", "", f"host: {host}", tcp=True)
    assert (told.status, told.error) == (403, "over TCP the host must be 127.0.0.1 or localhost")


@pytest.mark.parametrize(
    "head",
    [
        "origin: https://evil.example",
        "origin: null",
        "origin: http://127.0.0.1:1",
        "origin: http://localhost",
        "sec-fetch-site: cross-site",
        "sec-fetch-site: same-site",
    ],
)
def test_a_page_of_another_origin_is_refused(head: str, held: Lab) -> None:
    """A page from elsewhere, and one from another port of this machine, gets nothing, by script or by image."""
    told = _get(held, "/peers", "", head, tcp=True)
    assert (told.status, told.error) == (403, "requests from pages of other origins are refused")
    assert "access-control-allow-origin" not in told.headers


def test_a_page_of_our_own_is_answered(held: Lab) -> None:
    """A page that came from this very port may ask."""
    own = lease(held)["tcp"]
    assert _get(held, "/peers", "", f"origin: {own}", "sec-fetch-site: same-origin", tcp=True).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_over_tcp_nothing_is_written(method: str, held: Lab) -> None:
    """Commands, the end of the server among them, come by the socket alone."""
    for path in ("/episodes", "/server/stop", "/nope"):
        told = _call(held, method, f"/api/v1{path}", b"{}", "content-type: application/json", tcp=True)
        assert told.status == 403
        assert "TCP answers only reads; send commands to the socket that lease.json names" in told.error


def test_what_a_proxy_would_say_is_not_believed(held: Lab) -> None:
    """Forwarded headers neither open the port nor turn a caller of the socket into one from elsewhere."""
    forged = ("x-forwarded-for: 127.0.0.1", "x-forwarded-host: localhost", "forwarded: for=127.0.0.1;host=localhost")
    assert _get(held, "/peers", "", "host: evil.example", *forged, tcp=True).status == 403
    foreign = ("x-forwarded-for: 203.0.113.7", "x-forwarded-host: evil.example", "x-forwarded-proto: https")
    assert _get(held, "/peers", "", *foreign).status == 200


def test_only_this_machine_reaches_the_port(held: Lab) -> None:
    """The port listens on the loopback address and on no other."""
    port = int(lease(held)["tcp"].rpartition(":")[2])
    with socket.create_server(("127.0.0.2", port)):
        pass


def test_answers_are_not_guessed_at(held: Lab) -> None:
    """A browser takes an answer for what it says it is, also a refusal."""
    for told in (
        _get(held, "/brief", "format=text"),
        _call(held, "GET", "/nope"),
        _get(held, "/brief", "", "host: evil", tcp=True),
    ):
        assert told.headers["x-content-type-options"] == "nosniff"
