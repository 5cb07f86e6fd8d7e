import os
from pathlib import Path

import pytest

from isinglass.errors import FileError
from isinglass.files import (
    MARK,
    check_file,
    check_folder,
    check_side_files,
    write_all,
    write_files,
)


def test_writes_into_a_new_folder(tmp_path):
    write_all(tmp_path / "a" / "b", {"x.txt": b"one", "y.bin": b"\x00"})
    assert (tmp_path / "a" / "b" / "x.txt").read_bytes() == b"one"
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["x.txt", "y.bin"]


def test_overwrites(tmp_path):
    write_all(tmp_path, {"x.txt": b"old"})
    write_all(tmp_path, {"x.txt": b"new"})
    assert (tmp_path / "x.txt").read_bytes() == b"new"


def test_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "plain").touch()
    write_all(tmp_path, {"x.txt": b""})
    assert (tmp_path / "x.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("function", ["replace", "fsync", "chmod"])
def test_a_failure_leaves_nothing(tmp_path, monkeypatch, function):
    def fail(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "x.txt").write_bytes(b"old")
    monkeypatch.setattr(os, function, fail)
    with pytest.raises(FileError, match=r"cannot write to .*: No space left on device"):
        write_all(tmp_path, {"x.txt": b"new", "y.txt": b"new"})
    assert os.listdir(tmp_path) == ["x.txt"]
    assert (tmp_path / "x.txt").read_bytes() == b"old"


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_all(tmp_path, {"x.txt": b"new"})
    assert os.listdir(tmp_path) == []


def test_files_in_several_folders_come_together_or_not_at_all(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(FileError, match=r"cannot write to .*taken"):
        write_files({tmp_path / "x.txt": b"x", tmp_path / "taken" / "y.txt": b"y"})
    assert os.listdir(tmp_path) == ["taken"]
    write_files({tmp_path / "x.txt": b"x", tmp_path / "new" / "y.txt": b"y"})
    assert (tmp_path / "new" / "y.txt").read_bytes() == b"y"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(FileError, match="it is a folder; name a file"):
        check_file(tmp_path)
    check_file(tmp_path / "new" / "x.txt")
    assert os.listdir(tmp_path) == []


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "taken").write_text("mine")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        with pytest.raises(FileError, match="'taken' is a file; name a folder"):
            check_folder(folder)
        with pytest.raises(FileError, match="cannot write to"):
            write_all(folder, {"x.txt": b""})
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(FileError, match="permission denied"):
        check_folder(locked / "new")


def test_checking_makes_nothing(tmp_path):
    check_folder(tmp_path / "new" / "newer")
    check_folder(Path("."))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_target_that_is_a_folder_keeps_all_as_they_were(tmp_path, place):
    names = ["a.csv", "b.csv", "c.csv"]
    for name in names:
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / names[place]).unlink()
    (tmp_path / names[place]).mkdir()
    with pytest.raises(FileError, match="it is a folder; name a file"):
        write_all(tmp_path, dict.fromkeys(names, b"new"))
    kept = [tmp_path / name for name in names if name != names[place]]
    assert [path.read_bytes() for path in kept] == [b"old", b"old"]
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdout", "/dev/fd/1"])
def test_a_device_is_not_replaced(path):
    with pytest.raises(FileError, match="not a plain file"):
        write_files({Path(path): b"new"})


@pytest.mark.parametrize("name", ["x" * 300, "x\0y"])
def test_a_name_that_cannot_be(tmp_path, name):
    for path in (tmp_path / name, tmp_path / name / "below"):
        with pytest.raises(FileError, match="cannot write to"):
            check_file(path)
        with pytest.raises(FileError, match="cannot write to"):
            check_folder(path)


def test_a_name_as_long_as_may_be(tmp_path):
    write_files({tmp_path / ("x" * 250): b"new"})
    assert (tmp_path / ("x" * 250)).read_bytes() == b"new"


def test_a_file_beside_is_replaced_only_if_it_is_ours(tmp_path):
    main, beside = tmp_path / "x.csv", tmp_path / "x.R"
    main.write_bytes(b"somebody's")
    check_side_files([main, beside], main)
    beside.write_bytes(b"# " + MARK + b"\n")
    check_side_files([main, beside], main)
    beside.write_bytes(b"somebody's")
    with pytest.raises(FileError, match=r"x\.R' would be written beside .*, but already exists"):
        check_side_files([main, beside], main)
    check_side_files([main, beside], main, overwrite=True)
