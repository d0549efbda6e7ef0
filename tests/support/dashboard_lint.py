# SPDX-License-Identifier: Apache-2.0
"""The rules of grafana/dashboard-linter, after its documentation (docs/rules), for dashboards with Prometheus as their only
data source; and a few of our own. The linter itself is a Go program that its users build from source.

    for complaint in dashboard_lint.complaints(model): ...
"""

import re

# Panels that show numbers, and all that are drawn from queries.
MEASURED = {"stat", "table", "timeseries", "gauge", "bargauge", "barchart", "heatmap"}
QUERIED = MEASURED | {"state-timeline", "status-history"}
DEPRECATED = {"graph", "singlestat", "table-old", "heatmap-old", "grafana-piechart-panel"}

# Those of Grafana's units (packages/grafana-data, valueFormats) that mean something here.
UNITS = {"none", "short", "percent", "percentunit", "bytes", "decbytes", "Bps", "binBps", "s", "ms", "hertz", "celsius",
         "watt", "ops", "reqps", "rps", "iops", "cps", "bool", "dateTimeFromNow"}
MATCHERS = ('job=~"$job"', 'instance=~"$instance"')

SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)?\{([^}]*)\}(?:\[([^\]]*)\])?")


def queries(model):
    """(panel, target) of every query of a dashboard."""
    return [(panel, target) for panel in panels(model) for target in panel.get("targets", ())]


def panels(model):
    """All but rows, also those inside of collapsed ones."""
    found = []
    for panel in model["panels"]:
        found += [panel] if panel["type"] != "row" else panel.get("panels", [])
    return found


def variables(model, kind):
    return [variable for variable in model["templating"]["list"] if variable["type"] == kind]


def complaints(model):
    """Sentences that begin with the name of the rule."""
    found = []
    for rule in DASHBOARD_RULES:
        found += ["%s: %s" % (_name(rule), text) for text in rule(model)]
    for panel in panels(model):
        for rule in PANEL_RULES:
            found += ["%s: panel %r: %s" % (_name(rule), panel.get("title"), text) for text in rule(panel)]
    for panel, target in queries(model):
        for rule in TARGET_RULES:
            found += ["%s: panel %r: %s" % (_name(rule), panel["title"], text) for text in rule(target["expr"])]
    return found


def _name(rule):
    return rule.__name__.replace("_", "-") + "-rule"


def template_datasource(model):
    sources = variables(model, "datasource")
    if [(source["name"], source["label"], source["query"]) for source in sources] != [
            ("datasource", "Data source", "prometheus")]:
        yield "wants one variable `datasource` with the label `Data source`"


def _template(model, name):
    for variable in variables(model, "query"):
        if variable["name"] == name:
            if variable["label"].lower() != name:
                yield "wants the label %s" % name.capitalize()
            if variable["datasource"]["uid"] not in ("$datasource", "${datasource}"):
                yield "wants the data source of the dashboard"
            if not variable["multi"] or not variable["includeAll"] or variable["allValue"] != ".+":
                yield "wants several values, and `.+` for all"
            return
    yield "is missing"


def template_job(model):
    return _template(model, "job")


def template_instance(model):
    return _template(model, "instance")


def template_label_promql(model):
    for variable in variables(model, "query"):
        if not re.fullmatch(r"label_values\([^()]*(\([^()]*\)[^()]*)*, \w+\)", variable["query"]):
            yield "%s has no label_values()" % variable["name"]


def template_on_time_change_reload(model):
    for variable in variables(model, "query"):
        if variable["refresh"] != 2:
            yield "%s is not refreshed when the time changes" % variable["name"]


def uneditable(model):
    if model["editable"]:
        yield "can be edited"


def ids(model):
    """Ours."""
    numbers = [panel["id"] for panel in model["panels"]]
    if len(set(numbers)) != len(numbers):
        yield "panels share an id"
    if not re.fullmatch(r"[\w-]{1,40}", model["uid"]):
        yield "the uid has other characters than Grafana allows"
    if model["schemaVersion"] < 39:
        yield "the schema is older than Grafana 11"


def panel_overlap(model):
    """Ours."""
    taken = {}
    for panel in model["panels"]:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield "%r is too wide" % panel["title"]
        for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])):
            if taken.setdefault(cell, panel["id"]) != panel["id"]:
                yield "%r lies on another panel" % panel["title"]
                break


def panel_datasource(panel):
    for owner in (panel, *panel.get("targets", ())):
        if owner.get("datasource") != {"type": "prometheus", "uid": "${datasource}"}:
            yield "does not use the data source of the dashboard"


def panel_title_description(panel):
    if not panel.get("title") or not panel.get("description"):
        yield "has no title or no description"


def panel_units(panel):
    units = [panel["fieldConfig"]["defaults"].get("unit")] if panel["type"] in MEASURED else []
    units += [value["value"] for override in panel["fieldConfig"]["overrides"] for value in override["properties"]
              if value["id"] == "unit"]
    for unit in units:
        if unit not in UNITS:
            yield "has the unit %r" % unit


def panel_no_targets(panel):
    if not panel.get("targets"):
        yield "has no queries"


def panel_type(panel):
    """Ours."""
    if panel["type"] in DEPRECATED or panel["type"] not in QUERIED:
        yield "is of the type %r" % panel["type"]


def _selectors(expr):
    """(metric, matchers, range or "") of every selector. target-promql is what promtool says: dashboards_test."""
    return SELECTOR.findall(expr)


def target_job(expr):
    yield from ("%s{%s} has no %s" % (metric, matchers, MATCHERS[0]) for metric, matchers, _ in _selectors(expr)
                if MATCHERS[0] not in matchers)


def target_instance(expr):
    yield from ("%s{%s} has no %s" % (metric, matchers, MATCHERS[1]) for metric, matchers, _ in _selectors(expr)
                if MATCHERS[1] not in matchers)


def target_rate_interval(expr):
    for call in re.finditer(r"\bi?rate\(([^\[]*)\[([^\]]*)\]", expr):
        if call.group(2) != "$__rate_interval":
            yield "rate over %s" % call.group(2)


def target_counter_agg(expr):
    for selector in SELECTOR.finditer(expr):
        before = expr[:selector.start()]
        if (selector.group(1) or "").endswith("_total") and not re.search(r"\b(rate|irate|increase)\($", before):
            yield "%s is not inside of rate() or increase()" % selector.group(1)


DASHBOARD_RULES = (template_datasource, template_job, template_instance, template_label_promql,
                   template_on_time_change_reload, uneditable, ids, panel_overlap)
PANEL_RULES = (panel_datasource, panel_title_description, panel_units, panel_no_targets, panel_type)
TARGET_RULES = (target_job, target_instance, target_rate_interval, target_counter_agg)
