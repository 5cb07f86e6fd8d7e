"""Who may talk to the desk: a page of its own, by its own address, with its token."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Methods that change nothing.
SAFE = ("GET", "HEAD")
#: What every answer tells the browser, unless it says otherwise itself.
ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
}


def refusal(method: str, path: str, headers: Mapping[str, str], port: int, token: str) -> str:
    """Why a request is refused, in a sentence; nothing if it may pass.

    Another page in the same browser can send requests here, and can make its own name lead to
    127.0.0.1. It does not know the token, its Origin is another one, and so is the Host.

    >>> own = {"host": "127.0.0.1:8000"}
    >>> refusal("GET", "/secret/", own, 8000, "secret")
    ''
    >>> refusal("POST", "/secret/tables", own | {"origin": "http://evil.example"}, 8000, "secret")
    'This request comes from another page; the desk listens to its own page only.'
    """
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    if headers.get("host") not in hosts:
        return "This is not the address of the desk; open the one that the terminal shows."
    origin = headers.get("origin")
    foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
    known = origin is None if method in SAFE else False
    if foreign or not (known or origin in {f"http://{host}" for host in hosts}):
        return "This request comes from another page; the desk listens to its own page only."
    given = path.split("/")[1]
    if not hmac.compare_digest(given.encode(), token.encode()):
        return "The address lacks the right token; open the one that the terminal shows."
    return ""


class Guard:
    """Refuses requests that are not the page's own, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self.app, self.port, self.token = app, port, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        why = refusal(scope["method"], scope["path"], headers, self.port, self.token)
        app = PlainTextResponse(why, 403) if why else self.app

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(MutableHeaders(scope=message), ALWAYS.items())
            await send(message)

        await app(scope, receive, send_more)


def _add(headers: MutableHeaders, more: Iterable[tuple[str, str]]) -> None:
    for name, value in more:
        headers.setdefault(name, value)
