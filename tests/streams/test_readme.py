"""The README's examples are the product's: what it shows can be sent, and is read as it says."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from monitor.decoding import Limits, decode_decision, decode_label

README = Path(__file__).parents[2] / "README.md"


def block(language: str) -> str:
    """Return the README's first block of a language."""
    found = re.search(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_decision_shown_is_a_flawless_one() -> None:
    """Its span is what it says, and nothing has to be salvaged."""
    tree = ast.parse(block("python"))
    shown = next(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "decision"
    )
    decoded = decode_decision(json.dumps(ast.literal_eval(shown)).encode(), Limits())
    assert decoded.quarantined == ()
    span = decoded.record.spans[0]
    assert decoded.record.text[span.start : span.end] == "Anna"


def test_the_label_shown_is_a_flawless_one() -> None:
    """It answers the decision shown above it."""
    label = decode_label(block("json").encode(), Limits())
    text = "Call Anna on 06-24 11 87 03"
    assert [text[s.start : s.end] for s in label.spans] == ["Anna", "06-24 11 87 03"]
