# SPDX-License-Identifier: Apache-2.0
"""The figures of a run as the table that docs/decisions/performance.md shows."""

import statistics


class Figure:
    """One line of the table. `values` are its rounds, in the unit of `target`; the median counts. Without a target it is for comparison."""

    def __init__(self, what, values, target, unit="", at_least=True, note=""):
        self.what, self.values, self.target = what, sorted(values), target
        self.unit, self.at_least, self.note = unit, at_least, note

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def reached(self):
        return self.median >= self.target if self.at_least else self.median <= self.target

    def row(self):
        spread = "" if len(self.values) == 1 else " (%s to %s)" % (_text(self.values[0]), _text(self.values[-1]))
        target = reached = ""
        if self.target is not None:
            target = "%s %s%s" % (">=" if self.at_least else "<=", _text(self.target), self.unit)
            reached = "yes" if self.reached else "**no**"
        return "| %s | %s%s%s | %s | %s | %s |" % (self.what, _text(self.median), self.unit, spread, target, reached, self.note)


HEAD = "| what | now: median (spread) | target | reached | besides |\n|---|---|---|---|---|"


def _text(value):
    return "%.3g" % value if value < 1000 else "%.0f" % value
