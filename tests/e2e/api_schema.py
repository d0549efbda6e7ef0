# SPDX-License-Identifier: Apache-2.0
"""Checks responses and messages against docs/api/openapi.yaml and docs/api/asyncapi.yaml.

The documents allow members that they do not name, for later versions. Here none may be missing from them, unless an
object says `additionalProperties: true`. Without python3-jsonschema and python3-yaml nothing is checked."""

import functools
import json
import os
import re
import urllib.parse

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = os.path.join(ROOT, "docs", "api")
MAX_BYTES = 1 << 20  # larger ones are checked in part by their own tests


def available():
    return jsonschema is not None


def members(schema):
    """Names of all members that an object of this schema may have; None if any."""
    found = set(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        inner = members(part)
        if inner is None:
            return None
        found |= inner
    return None if schema.get("additionalProperties") else found


def closed(schema):
    """A copy that allows only what it names."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: value if key in ("enum", "required", "const") else closed(value) for key, value in schema.items()}
    if "allOf" in inner:  # each part knows only its own members
        names = members(inner)
        inner["allOf"] = [{**part, "additionalProperties": True} for part in inner["allOf"]]
        if names is not None:
            inner["propertyNames"] = {"enum": sorted(names)}
    elif isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


def resolved(node, documents, base):
    """A copy without references."""
    if isinstance(node, list):
        return [resolved(each, documents, base) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        file, _, pointer = node["$ref"].partition("#/")
        target = documents[file or base]
        for part in pointer.split("/"):
            target = target[part]
        return resolved(target, documents, file or base)
    return {key: resolved(value, documents, base) for key, value in node.items()}


@functools.lru_cache(maxsize=None)
def document(name):
    loaded = {}
    for each in ("openapi.yaml", "asyncapi.yaml"):
        with open(os.path.join(DOCUMENTS, each)) as file:
            loaded[each] = yaml.safe_load(file)
    return resolved(loaded[name], loaded, name)


@functools.lru_cache(maxsize=None)
def operations():
    """[(pattern of the path, path, operation)], the most exact first."""
    rows = []
    for path, item in document("openapi.yaml")["paths"].items():
        pattern = re.compile("".join(
            "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{\w+\})", path)))
        if "get" in item:  # what is changed is checked by its own tests
            rows.append((pattern, path, item["get"]))
    return sorted(rows, key=lambda row: row[1].count("{"))


def operation_of(path):
    for pattern, name, operation in operations():
        if pattern.fullmatch(path):
            return name, operation
    return None, None


@functools.lru_cache(maxsize=None)
def validator(path, status):
    """Of the body of this response; None if it is no JSON."""
    _, operation = operation_of(path)
    responses = operation["responses"]
    response = responses.get(str(status)) or responses.get("%dXX" % (status // 100))
    assert response is not None, "%s does not document the status %d" % (path, status)
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    return schema and jsonschema.Draft202012Validator(closed(schema))


@functools.lru_cache(maxsize=None)
def message_validator(op):
    messages = document("asyncapi.yaml")["components"]["messages"]
    assert op in messages, "the stream's message %s is not documented" % op
    return jsonschema.Draft202012Validator(closed(messages[op]["payload"]))


def explain(checker, value, what):
    error = jsonschema.exceptions.best_match(checker.iter_errors(value))
    if error is not None:
        raise AssertionError("%s is not as documented: %s: %s" % (
            what, "/".join(map(str, error.absolute_path)) or "it", error.message[:500]))


def check_response(url, status, content_type, body):
    """The response to a GET of `url`; what is not of the API is not looked at."""
    path = urllib.parse.urlsplit(url).path
    if not available() or len(body) > MAX_BYTES:
        return
    name, operation = operation_of(path)
    if operation is None or not content_type.startswith("application/json"):
        return
    checker = validator(name, status)
    if checker is not None:
        explain(checker, json.loads(body), "GET %s (%d)" % (url, status))


def check_message(message):
    """One message of the stream, in either direction."""
    if available():
        explain(message_validator(message["op"]), message, "the message %s" % message["op"])
