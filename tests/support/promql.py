# SPDX-License-Identifier: Apache-2.0
"""Which metrics and labels an expression of PromQL reads: enough of its grammar to compare rules and dashboards with a
scrape (rich_job.exported). promtool checks the grammar itself."""

import re

_STRING = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'"
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?")
_MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*(%s)" % _STRING)
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_WORDS = {"and", "or", "unless", "bool", "offset", "group_left", "group_right", "by", "without", "on", "ignoring", "Inf",
          "NaN", "inf", "nan"}


def selectors(expression):
    """[(metric, [(label, operator, value)])]; the labels of `by (…)` and `on (…)` are in labels()."""
    text = re.sub(r"#.*", "", expression)
    text = _GROUPING.sub(" ", text)
    text = re.sub(r"\[[^\]]*\]", " ", text)
    found = []
    for match in _SELECTOR.finditer(text):
        name, braces = match.groups()
        before, after = text[:match.start()], text[match.end():].lstrip()
        if name in _WORDS or after.startswith("(") or before[-1:].isalnum() or before.rstrip().endswith("offset"):
            continue
        if before.count("{") > before.count("}"):  # a label
            continue
        found.append((name, [(label, operator, value[1:-1]) for label, operator, value in _MATCHER.findall(braces or "")]))
    return found


def labels(expression):
    """The labels that it groups by or matches on."""
    return {label.strip() for group in _GROUPING.findall(expression) for label in group.split(",") if label.strip()}
