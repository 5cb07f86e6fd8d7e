"""Requests that are not the page's own are refused."""

import http.client
from urllib.parse import urlsplit

import pytest

from isinglass.desk.guard import refusal

OWN = {"host": "127.0.0.1:80", "origin": "http://127.0.0.1:80"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "word"),
    [
        ("GET", "/wrong/", OWN, "token"),
        ("GET", "/", OWN, "token"),
        ("GET", "/secretly/", OWN, "token"),
        ("GET", "/secret/", {"host": "evil.example:80"}, "address"),
        ("GET", "/secret/", {"host": "127.0.0.1:81"}, "address"),
        ("GET", "/secret/", {}, "address"),
        ("GET", "/secret/", OWN | {"origin": "http://evil.example"}, "another page"),
        ("GET", "/secret/", OWN | {"sec-fetch-site": "cross-site"}, "another page"),
        ("POST", "/secret/tables", OWN | {"origin": "null"}, "another page"),
        ("POST", "/secret/tables", OWN | {"origin": "https://127.0.0.1:80"}, "another page"),
        ("POST", "/secret/tables", {"host": "127.0.0.1:80"}, "another page"),
        ("DELETE", "/secret/tables/x", {"host": "127.0.0.1:80"}, "another page"),
        ("GET", "/sécret/", OWN, "token"),
    ],
)
def test_what_is_refused(method, path, headers, word):
    assert word in refusal(method, path, headers, 80, "secret")


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"host": "127.0.0.1:80"}),
        ("GET", {"host": "localhost:80", "sec-fetch-site": "none"}),
        ("POST", OWN | {"sec-fetch-site": "same-origin"}),
        ("POST", {"host": "localhost:80", "origin": "http://localhost:80"}),
    ],
)
def test_what_may_pass(method, headers):
    assert refusal(method, "/secret/tables", headers, 80, "secret") == ""


def test_a_wrong_token_and_a_foreign_origin_at_the_door(desk):
    assert desk.ask("GET", "")[0] == 200
    assert desk.ask("GET", "/wrong/")[0] == 403
    foreign = desk.ask("POST", "tables?name=a.csv", b"a\n1\n", Origin="http://evil.example")
    assert foreign[0] == 403
    assert desk.ask("POST", "tables?name=a.csv", b"a\n1\n", Origin=None)[0] == 403
    assert desk.ask("GET", "", Host="evil.example")[0] == 403
    assert desk.kept() == []


def test_every_answer_tells_the_browser_to_be_careful(desk):
    parts = urlsplit(desk.address)
    connection = http.client.HTTPConnection(parts.netloc)
    for path in (parts.path, "/wrong/", f"{parts.path}nothing"):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Server"] is None
    connection.close()
