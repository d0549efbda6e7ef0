# SPDX-License-Identifier: Apache-2.0
"""Panels and dashboards of Grafana's JSON model (schema version 39: Grafana 11 and later), as plain dictionaries.

A query is (expression, legend) or a dictionary of options of a target. Every panel says in its description how to
read it.
"""

from dashboards.queries import promql

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
TAG = "trainwatch"
COLUMNS = 24

# Grafana's named colours; red and green never differ in colour alone, values are mapped to words.
GOOD, NOTE, WARN, BAD, IDLE, OVER = "green", "blue", "orange", "red", "text", "#6e7280"


def _targets(queries, **options):
    made = []
    for number, query in enumerate(queries):
        query = dict(query) if isinstance(query, dict) else {"expr": query[0], "legendFormat": query[1]}
        query["expr"] = promql(query["expr"])
        made.append({"datasource": DATASOURCE, "editorMode": "code", "refId": chr(ord("A") + number), **options, **query})
    return made


def thresholds(*steps, start=GOOD):
    """(value, colour)... in ascending order, above a base colour."""
    return {"mode": "absolute", "steps": [{"color": start, "value": None}]
            + [{"color": colour, "value": value} for value, colour in steps]}


def words(*pairs, numbers_from=1):
    """Value mapping: numbers to (word, colour)."""
    return [{"type": "value", "options": {str(number): {"text": text, "color": colour, "index": number}
                                          for number, (text, colour) in enumerate(pairs, numbers_from)}}]


def override(name, **properties):
    """Of the field `name`. Property names have `_` for `.`, such as custom_width."""
    return {"matcher": {"id": "byName", "options": name},
            "properties": [{"id": key.replace("_", "."), "value": value} for key, value in properties.items()]}


def _panel(kind, title, description, unit, targets, options, *, width, height, custom=None, defaults=None,
           overrides=(), transformations=(), links=(), points=None):
    made = {"type": kind, "title": title, "description": description, "datasource": DATASOURCE, "targets": targets,
            "fieldConfig": {"defaults": {"unit": unit, "custom": custom or {}, **(defaults or {})},
                            "overrides": list(overrides)},
            "options": options, "gridPos": {"w": width, "h": height, "x": 0, "y": 0}}
    if points:  # in time; what thousands of ranks cost Prometheus grows with it
        made["maxDataPoints"] = points
    if transformations:
        made["transformations"] = list(transformations)
    if links:
        made["links"] = list(links)
    return made


def stat(title, description, unit, queries, *, steps=(), start=GOOD, mappings=(), width=4, height=4, text="auto",
         decimals=None, graph="area", no_value="-", **rest):
    """One number, or one for each series, coloured by `steps`."""
    defaults = {"thresholds": thresholds(*steps, start=start), "color": {"mode": "thresholds"}, "noValue": no_value,
                "mappings": list(mappings)}
    if decimals is not None:
        defaults["decimals"] = decimals
    instant = {"instant": True, "range": False} if text == "value_and_name" else {}  # a range has each series that was ever on top
    return _panel("stat", title, description, unit, _targets(queries, **instant),
                  {"colorMode": "value", "graphMode": graph, "justifyMode": "auto", "orientation": "auto",
                   "textMode": text, "wideLayout": True,
                   "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
                  width=width, height=height, defaults=defaults, **rest)


def timeseries(title, description, unit, queries, *, stack=False, bars=False, low=0, high=None, steps=(), width=12,
               height=8, legend="right", log=False, exemplars=False, decimals=None, **rest):
    """Lines over time, or what adds up (`stack`)."""
    custom = {"drawStyle": "bars" if bars else "line", "lineWidth": 1, "fillOpacity": 60 if stack or bars else 8,
              "showPoints": "auto", "spanNulls": False, "lineInterpolation": "linear",
              "stacking": {"mode": "normal" if stack else "none", "group": "A"},
              "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"}}
    defaults = {"color": {"mode": "palette-classic"}}
    if low is not None and not log:
        defaults["min"] = low
    if high is not None:
        defaults["max"] = high
    if decimals is not None:
        defaults["decimals"] = decimals
    if steps:
        defaults["thresholds"] = thresholds(*steps, start="transparent")
        custom["thresholdsStyle"] = {"mode": "line"}
    calcs = ["lastNotNull", "max"] if legend == "right" else []
    return _panel("timeseries", title, description, unit, _targets(queries, **({"exemplar": True} if exemplars else {})),
                  {"legend": {"displayMode": "table" if legend == "right" else "list", "placement": legend,
                              "showLegend": True, "calcs": calcs, "sortBy": "Last *", "sortDesc": True},
                   "tooltip": {"mode": "multi", "sort": "desc"}},
                  width=width, height=height, custom=custom, defaults=defaults, **rest)


def heatmap(title, description, unit, query, *, width=12, height=9, buckets=False, low=0, high=None, diverging=False,
            row_unit="short"):
    """A row for each series, coloured by its value, or (`buckets`) a row for each bucket of a histogram. A fixed scale
    from `low` to `high` keeps noise dark."""
    color = {"mode": "scheme", "scheme": "RdYlBu" if diverging else "Inferno", "reverse": diverging, "steps": 64,
             "fill": "dark-orange", "exponent": 0.5, "scale": "exponential"}
    if high is not None:
        color.update({"min": low, "max": high})
    options = {"calculate": False, "cellGap": 1, "color": color, "showValue": "never",
               "cellValues": {"unit": unit}, "rowsFrame": {"layout": "auto", "value": title},
               "yAxis": {"axisPlacement": "left", "reverse": not buckets, "unit": row_unit},
               "legend": {"show": True}, "tooltip": {"mode": "single", "showColorScale": True, "yHistogram": False},
               "exemplars": {"color": "rgba(255,255,255,0.7)"}, "filterValues": {"le": 1e-9} if buckets else {}}
    targets = _targets([query], **({"format": "heatmap"} if buckets else {}))
    return _panel("heatmap", title, description, unit, targets, options, width=width, height=height, points=100)


def state_timeline(title, description, queries, mappings, *, width=24, height=8, legend=True):
    """A bar for each series that changes colour with its state."""
    return _panel("state-timeline", title, description, "none", _targets(queries),
                  {"mergeValues": True, "showValue": "auto", "alignValue": "left", "rowHeight": 0.85, "perPage": 20,
                   "legend": {"displayMode": "list", "placement": "bottom", "showLegend": legend, "calcs": []},
                   "tooltip": {"mode": "single", "sort": "none"}},
                  width=width, height=height, custom={"lineWidth": 0, "fillOpacity": 75},
                  defaults={"mappings": mappings, "color": {"mode": "thresholds"}, "thresholds": thresholds(start=IDLE)})


def table(title, description, unit, queries, *, width=24, height=8, overrides=(), hide=(), order=(), sort=None,
          no_value="-"):
    """The newest value of each series as a row; several queries are joined on their labels."""
    organize = {"id": "organize", "options": {
        "excludeByName": {name: True for name in ("Time", "__name__", *hide)},
        "indexByName": {name: place for place, name in enumerate(order)}, "renameByName": {}}}
    return _panel("table", title, description, unit, _targets(queries, instant=True, range=False, format="table"),
                  {"showHeader": True, "cellHeight": "sm",
                   "sortBy": [{"displayName": sort, "desc": True}] if sort else []},
                  width=width, height=height, custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True},
                  defaults={"thresholds": thresholds(start=IDLE), "noValue": no_value}, overrides=overrides,
                  transformations=[{"id": "merge", "options": {}}, organize])


def bar_gauge(title, description, unit, queries, *, steps=(), width=8, height=8, high=None, **rest):
    """The newest value of each series as a bar."""
    defaults = {"thresholds": thresholds(*steps, start=NOTE), "color": {"mode": "thresholds"}, "min": 0, "noValue": "-"}
    if high is not None:
        defaults["max"] = high
    return _panel("bargauge", title, description, unit, _targets(queries, instant=True, range=False),
                  {"displayMode": "basic", "orientation": "horizontal", "valueMode": "text", "showUnfilled": True,
                   "namePlacement": "left", "sizing": "auto", "minVizWidth": 8, "minVizHeight": 14, "maxVizHeight": 40,
                   "legend": {"showLegend": False, "displayMode": "list", "placement": "bottom", "calcs": []},
                   "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
                  width=width, height=height, defaults=defaults, **rest)


def bar_chart(title, description, unit, query, row, column, *, width=12, height=9):
    """Stacked bars: one for each value of the label `row`, divided by the label `column`."""
    return _panel("barchart", title, description, unit,
                  _targets([{"expr": query, "instant": True, "range": False, "format": "table"}]),
                  {"orientation": "horizontal", "stacking": "normal", "showValue": "never", "barWidth": 0.9,
                   "groupWidth": 0.7, "barRadius": 0, "xTickLabelRotation": 0, "xTickLabelSpacing": 0, "fullHighlight": False,
                   "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                   "tooltip": {"mode": "multi", "sort": "desc"}},
                  width=width, height=height, custom={"lineWidth": 0, "fillOpacity": 80},
                  defaults={"color": {"mode": "palette-classic"}, "min": 0},
                  transformations=[{"id": "groupingToMatrix", "options": {
                      "rowField": row, "columnField": column, "valueField": "Value"}},
                      {"id": "sortBy", "options": {"sort": [{"field": row + "\\" + column, "desc": False}]}}])


def link(title, url="", tags=()):
    """To an address, or to all dashboards with these tags, with their time and variables."""
    return {"title": title, "type": "dashboards" if tags else "link", "url": url, "tags": list(tags), "asDropdown": False,
            "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link", "tooltip": ""}


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"w": COLUMNS, "h": 1, "x": 0, "y": 0}}


def _arranged(panels):
    """With ids, and places from left to right and from top to bottom."""
    x = y = height = 0
    for number, panel in enumerate(panels, 1):
        place = panel["gridPos"]
        if x + place["w"] > COLUMNS:
            x, y, height = 0, y + height, 0
        place.update(x=x, y=y)
        x, height = x + place["w"], max(height, place["h"])
        panel["id"] = number
    return panels


ALL = {"selected": True, "text": ["All"], "value": ["$__all"]}


def _query_variable(name, label, query, all_value):
    return {"type": "query", "name": name, "label": label, "datasource": DATASOURCE,
            "query": query, "refresh": 2, "includeAll": True, "multi": True, "allValue": all_value, "sort": 7,
            "regex": "", "options": [], "current": ALL, "hide": 0, "skipUrlSync": False}


def _variables():
    """Each depends on the ones before it. A label that is absent matches ".*", so "All" loses nothing."""
    labelled = ('label_values({__name__=~"trainwatch_(steps_total|system_utilization_ratio|gpu_busy_ratio)", '
                'job=~"$job", instance=~"$instance", train_job=~"$train_job"%s}, %s)')
    return [
        {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "regex": "",
         "refresh": 1, "multi": False, "includeAll": False, "options": [], "hide": 0, "skipUrlSync": False},
        _query_variable("job", "Job", "label_values(trainwatch_build_info, job)", ".+"),
        _query_variable("instance", "Instance", 'label_values(trainwatch_build_info{job=~"$job"}, instance)', ".+"),
        _query_variable("train_job", "Training job",
                        'label_values(trainwatch_run_state{job=~"$job", instance=~"$instance"}, train_job)', ".*"),
        _query_variable("node", "Node", labelled % ("", "node"), ".*"),
        _query_variable("rank", "Rank", labelled % (', node=~"$node"', "rank"), ".*"),
        {"type": "custom", "name": "scheme", "label": "trainwatch serves", "query": "http,https", "multi": False,
         "includeAll": False, "current": {"selected": True, "text": "http", "value": "http"}, "hide": 0,
         "options": [{"selected": name == "http", "text": name, "value": name} for name in ("http", "https")],
         "skipUrlSync": False},
    ]


def _annotations():
    alerts = promql('trainwatch_alert_active{JOB, severity=~"warning|critical"} > 0')
    return [{"name": "Alerts", "datasource": DATASOURCE, "enable": True, "hide": False, "iconColor": "orange",
             "expr": alerts, "titleFormat": "{{rule}} ({{severity}})",
             "textFormat": "{{train_job}} {{node}} rank {{rank}}", "tagKeys": "severity,rule",
             "useValueForTime": False}]


def dashboard(name, title, description, panels, refresh="30s"):
    """`name` is the file's name without its ending, and the uid that links and bookmarks rely on."""
    return name, {
        "uid": name, "title": "trainwatch / " + title, "description": description, "tags": [TAG], "schemaVersion": 39,
        "version": 1, "editable": False, "graphTooltip": 1, "fiscalYearStartMonth": 0, "liveNow": False, "weekStart": "",
        "timezone": "", "time": {"from": "now-1h", "to": "now"}, "refresh": refresh,
        "timepicker": {"refresh_intervals": ["10s", "30s", "1m", "5m", "15m"]}, "links": [link("trainwatch", tags=[TAG])],
        "annotations": {"list": _annotations()}, "templating": {"list": _variables()}, "panels": _arranged(panels)}
