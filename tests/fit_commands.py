"""What tests of ``isinglass fit`` share."""

#: The survey's columns that are neither numbers nor words of many kinds.
PLAIN = ("--drop", "id", "--drop", "age", "--drop", "count", "--drop", "share")


def edges_of(result) -> list[tuple[str, str]]:
    return sorted((edge["source"], edge["target"]) for edge in result["edges"])


def assert_one_line(outcome, message: str) -> None:
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("isinglass: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert "Traceback" not in outcome.err
