"""YAML as people read it: comments, text in blocks, strings quoted only where they must be.

Just what the generated files need: mappings, lists, strings. A library would write it as well, but without comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

WIDTH = 118
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|[1-9][0-9]*[smhdw]")
_WORD = re.compile(r"(?:\{\{ define .*?-\}\}|\{\{.*?\}\}|\S)+")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


class Noted(NamedTuple):
    """A value with a comment above its key, or above its entry of a list."""

    comment: str
    value: Node


class Block(NamedTuple):
    """Text of several lines, kept as they are."""

    text: str


class Folded(NamedTuple):
    """One long line of text, broken between words."""

    text: str


Node = str | bool | int | Block | Folded | Noted | Sequence["Node"] | Mapping[str, "Node"]


def written(node: Node, head: str = "") -> str:
    r"""Return a document, its head a comment.

    >>> print(written({"groups": [Noted("Why.", {"name": "a: b", "expr": Block("one\ntwo")})]}, "Made."), end="")
    # Made.
    <BLANKLINE>
    groups:
      # Why.
      - name: "a: b"
        expr: |-
          one
          two
    """
    lines = [*_comment(head, WIDTH), *([""] if head else []), *_lines(node)]
    return "\n".join(lines) + "\n"


def _lines(node: Node) -> Iterator[str]:
    if isinstance(node, str | int | Block | Folded | Noted):
        raise TypeError(f"{type(node).__name__}: a document is a mapping or a list")
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _entry(f"{key}:", value)
    else:
        for value in node:
            yield from _item(value)


def _item(value: Node) -> Iterator[str]:
    if isinstance(value, Noted):
        yield from _comment(value.comment)
        value = value.value
    if isinstance(value, str | int | Block | Folded | Noted):
        yield from _entry("-", value)
        return
    for number, line in enumerate(_lines(value)):
        yield f"{'  ' if number else '- '}{line}"


def _entry(key: str, value: Node) -> Iterator[str]:
    if isinstance(value, Noted):
        yield from _comment(value.comment)
        yield from _entry(key, value.value)
    elif isinstance(value, bool):
        yield f"{key} {str(value).lower()}"
    elif isinstance(value, int):
        yield f"{key} {value}"
    elif isinstance(value, str):
        yield f"{key} {_scalar(value)}"
    elif isinstance(value, Block):
        yield f"{key} |{'2' if value.text.startswith(' ') else ''}-"
        yield from (f"  {line}" for line in value.text.splitlines())
    elif isinstance(value, Folded):
        yield f"{key} >-"
        yield from (f"  {line}" for line in _broken(value.text))
    else:
        yield key
        yield from (f"  {line}" for line in _lines(value))


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) and value not in _WORDS else json.dumps(value, ensure_ascii=False)


def _broken(text: str, width: int = WIDTH - 14) -> list[str]:
    """Break text between words; a template's action or definition is one word."""
    lines: list[str] = []
    for word in _WORD.findall(text):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _comment(text: str, width: int = WIDTH - 10) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n") if text else ()):
        yield from ["#"] if number else []
        yield from (f"# {line}" for line in _broken(paragraph, width))
