"""Rates written into a settings file: these and nothing else, in whatever way the file is written."""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path

import msgspec
import pytest

from monitor.config import Config, LanguageRates, Sampling, read_config
from monitor.errors import ConfigError
from streams.config_edit import RateChange, edit_rates, write_rates
from streams.settings import load_settings

SAMPLE = Path(__file__).parents[2] / "deploy" / "recallwatch.toml"
ES = LanguageRates(random_rate=0.0123, loose_rate_by_stratum={"both": 0.5, "loose_only": 0.25})
FORMS = {
    "the sample": SAMPLE.read_text(),
    "an empty file": "",
    "no section": "# mine\n[net]\ndefaults = true",
    "a stratum alone": "# top\n[sampling.loose_rate_by_stratum]\nboth = 0.2 # b\n\n# net\n[net]\ndefaults = true\n",
    "an inline table": "sampling = { random_rate = 0.1, loose_rate = 0.2 } # c\n",
    "dotted keys": "sampling.random_rate = 0.1 # r\nsampling.by_language.es.loose_rate = 0.3\n",
    "in pieces": "[sampling]\nrandom_rate = 0.1\n\n[net]\ndefaults=true\n[sampling.by_language]\nes.loose_rate = 0\n",
    "a language alone": "[sampling.by_language.es]\nrandom_rate = 0.3 # x\n\n# end\n[net]\ndefaults=true\n",
    "line ends of two": "[sampling]\r\nrandom_rate = 0.1 # a\r\n\r\n# n\r\n[net]\r\ndefaults = true\r\n",
    "odd spelling": "[ sampling ]\n\"random_rate\"   =   0.1\nkey='''a\n[sampling]\n'''\n",
    "a byte order mark": "\ufeff[sampling]\nrandom_rate = 0.1\n",
}


def advised(held: Sampling) -> Sampling:
    """Return other rates, for all and for one language."""
    of_es = held.by_language.get("es", LanguageRates())
    es = msgspec.structs.replace(
        of_es,
        random_rate=ES.random_rate,
        loose_rate_by_stratum={**of_es.loose_rate_by_stratum, **ES.loose_rate_by_stratum},
    )
    loose = {**held.loose_rate_by_stratum, "both": 0.0313}
    return msgspec.structs.replace(
        held, random_rate=0.00475, loose_rate_by_stratum=loose, by_language={**held.by_language, "es": es}
    )


def tree(path: Path) -> Config:
    """Return what a settings file comes to for a worker."""
    return load_settings(path).config


@pytest.mark.parametrize("form", FORMS)
def test_rates_are_changed_and_nothing_else(form: str, tmp_path: Path) -> None:
    """The tree differs by the rates alone, and every other line is as it was."""
    path = tmp_path / "settings.toml"
    path.write_bytes(FORMS[form].encode())
    before = tree(path)
    write_rates(path, advised)
    assert tree(path) == msgspec.structs.replace(before, sampling=advised(before.sampling))
    text = path.read_bytes().decode()
    taken, put = changed_lines(FORMS[form], text)
    assert not [
        line for line in taken if "rate" not in line and "both" not in line and line.strip() != "defaults = true"
    ]
    assert not [
        line for line in put if not any(word in line for word in ("rate", "sampling", "both", "es", "defaults"))
    ]
    comments = [line.partition("#")[2] for line in FORMS[form].splitlines() if "#" in line]
    assert [line.partition("#")[2] for line in text.splitlines() if "#" in line] == comments


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the lines that were taken out and those that were put in, blank ones left out."""
    found = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    return tuple([line[2:] for line in found if line[0] == sign and line[2:].strip()] for sign in "-+")  # type: ignore[return-value]  # two of them


def test_in_the_sample_new_keys_stand_under_their_headings(tmp_path: Path) -> None:
    """And not behind the comments that introduce the next section."""
    path = tmp_path / "settings.toml"
    path.write_text(SAMPLE.read_text())
    write_rates(path, advised)
    lines = path.read_text().splitlines()
    assert lines[lines.index("[sampling.loose_rate_by_stratum]") + 1] == "both = 0.0313"
    assert lines[lines.index("[sampling.by_language]") + 1].startswith("es = {random_rate = 0.0123, ")
    assert "random_rate = 0.00475" in lines


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    """New lines have them too."""
    path = tmp_path / "settings.toml"
    path.write_bytes(FORMS["line ends of two"].encode())
    write_rates(path, advised)
    data = path.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 6


def test_what_changed_is_told_old_and_new(tmp_path: Path) -> None:
    """By key; a rate that wasn't there is said to be none of its own."""
    path = tmp_path / "settings.toml"
    path.write_text("[sampling]\nrandom_rate = 0.1\n")
    changes = write_rates(path, advised)
    assert [str(change) for change in changes[:2]] == [
        "sampling.random_rate: 0.1 → 0.00475",
        "sampling.loose_rate_by_stratum.both: none of its own → 0.0313",
    ]
    assert RateChange("sampling.by_language.es.loose_rate_by_stratum.both", None, 0.5) in changes


def test_where_nothing_changes_nothing_is_written(tmp_path: Path) -> None:
    """The file stays the one it was."""
    path = tmp_path / "settings.toml"
    path.write_text("[sampling]\nrandom_rate = 0.1\n")
    before = path.stat()
    assert write_rates(path, lambda held: held) == []
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_link_stays_one_and_a_mode_too(tmp_path: Path) -> None:
    """What it points to is replaced; nothing is left beside it."""
    path, link = tmp_path / "settings.toml", tmp_path / "link.toml"
    path.write_text("[sampling]\nrandom_rate = 0.1\n")
    path.chmod(0o640)
    link.symlink_to(path)
    write_rates(link, advised)
    assert link.is_symlink()
    assert (path.stat().st_mode & 0o777, tree(path).sampling.random_rate) == (0o640, 0.00475)
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_what_cannot_be_written_is_said_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full in the middle leaves the old file, whole."""
    path = tmp_path / "settings.toml"
    path.write_text("[sampling]\nrandom_rate = 0.1\n")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match=r"settings\.toml.*can't be written \(No space left on device\)"):
        write_rates(path, advised)
    assert path.read_text() == "[sampling]\nrandom_rate = 0.1\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "No such file or directory"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"[sampling", "no TOML: "),
        (b"[sampling]\nrandom_rate = 0\n", r"sampling\.random_rate: "),
        (b"[sampling]\nradom_rate = 1\n", r"did you mean sampling\.random_rate"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(data: bytes | None, problem: str, tmp_path: Path) -> None:
    """It says which file, where, and what is wrong; nothing is written."""
    path = tmp_path / "settings.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=rf"settings\.toml.*{problem}"):
        write_rates(path, advised)
    assert data is None or path.read_bytes() == data


def test_rates_that_come_out_otherwise_are_refused() -> None:
    """What is read back must be what was asked for; else it's said what to write by hand."""
    text = "[sampling]\nrandom_rate = 0.1\n"
    before = read_config(tomllib.loads(text))
    after = msgspec.structs.replace(before, sampling=msgspec.structs.replace(before.sampling, key="k", random_rate=0.2))
    with pytest.raises(ConfigError, match=r"sampling: can't be edited as it's written; by hand: random_rate = 0\.2"):
        edit_rates(text, before, after)
