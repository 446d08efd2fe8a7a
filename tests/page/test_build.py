"""The page in one file: one script under its hash, and data that can never become a script."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attriguard as ag
from attriguard.errors import ParameterError
from attriguard.page.build import HERE, SCRIPTS, bundle, json_block

FORBIDDEN = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(",
             "XMLHttpRequest", "WebSocket", "EventSource", "import(", "sendBeacon", "RTCPeer", "location",
             "window.open")  # fmt: skip


@given(st.dictionaries(st.text(max_size=9), st.lists(st.text(max_size=9), max_size=4), max_size=4))
def test_no_text_can_end_a_block(value):
    text = json_block(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_every_module_stands_once_after_those_it_needs():
    text = bundle("engine.js")
    order = re.findall(r"^// (\w+\.js)$", text, flags=re.M)
    assert sorted(order) == sorted({"guard.js", "conceal.js", "mislead.js", "both.js", "mechanism.js", "draw.js",
                                    "engine.js"})  # fmt: skip
    assert order.index("guard.js") < order.index("conceal.js") < order.index("both.js") < order.index("engine.js")
    assert not re.search(r"^(import|export)\b", text, flags=re.M)


@pytest.mark.parametrize(
    "path", sorted([*SCRIPTS.glob("*.js"), *(HERE / "extension").glob("*.js")]), ids=lambda path: path.name
)
def test_scripts_keep_to_the_rules(path):
    text = path.read_text("utf-8")
    found = [word for word in FORBIDDEN if word in text]
    assert found == (["fetch("] if path.name == "files.js" else [])  # the extension reads its own files
    assert "</script" not in text.lower()
    assert "<!--" not in text
    assert max(map(len, text.splitlines())) <= 120
    for exported in re.finditer(r"^export (?:async )?(?:function|class|const) (\w+)", text, flags=re.M):
        assert text[: exported.start()].rstrip().endswith("*/"), f"{exported.group(1)} has no comment"


def test_no_two_modules_of_the_page_have_a_name_in_common():
    top = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", flags=re.M)
    names = [name for path in SCRIPTS.glob("*.js") for name in top.findall(path.read_text("utf-8"))]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


def test_the_policy_permits_the_page_its_own_script_and_style(small_guard, tmp_path):
    path = tmp_path / "city.html"
    made = ag.write_page(small_guard, path, titles=[f"title {j}" for j in range(300)])
    text = path.read_text("utf-8")
    assert made.size == len(text.encode())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text).group(1)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for rule, pattern in (
        ("script-src", r'<script type="module">(.*?)</script>'),
        ("style-src", r"<style>(.*?)</style>"),
    ):
        (content,) = re.findall(pattern, text, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "{{" not in re.sub(r"<script type=\"module\">.*?</script>", "", text, flags=re.S)


def test_a_page_is_written_whole_or_not_at_all(small_guard, tmp_path):
    path = tmp_path / "city.html"
    path.write_text("the old page")
    with pytest.raises(ParameterError):
        ag.write_page(small_guard, path, titles=["too few"])
    assert path.read_text() == "the old page"
    assert [each.name for each in tmp_path.iterdir()] == ["city.html"]


def test_the_template_has_a_place_for_every_part():
    assert set(re.findall(r"\{\{ (\w+) \}\}", (HERE / "page.html").read_text("utf-8"))) == {
        "policy", "style", "card", "guard", "script",
    }  # fmt: skip


def test_data_becomes_a_page_that_says_what_it_was_learnt_from(small_twin, tmp_path):
    made = ag.write_page(small_twin, tmp_path / "p.html", members=2, split=0.5, random_state=0)
    text = (tmp_path / "p.html").read_text("utf-8")
    card = json.loads(re.search(r'id="card">(.*?)</script>', text, flags=re.S).group(1))
    assert made.goals == tuple(card["goals"]) == ("mislead", "conceal", "both")
    assert card["items"]["titles"] == small_twin.item_names.tolist()
    assert card["about"]["data"] == "Synthetic twin of the Google Play data"
    assert card["about"]["users"] == "810"
    told = r"of 90 users .* is right about \d+% \(\d+% by guessing\), and about \d+% after 4 changes that conceal"
    assert re.fullmatch(told, card["about"]["measured"])
    assert made.titled == 300
    assert not made.warnings


def test_a_guard_is_not_learnt_again(small_guard, tmp_path):
    with pytest.raises(ParameterError, match="split: an option of learning, but this guard is learnt already"):
        ag.write_page(small_guard, tmp_path / "p.html", split=0.5)
