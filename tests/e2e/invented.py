# SPDX-License-Identifier: Apache-2.0
"""What the invented cases share: curves from seeds, time stamps, and rows whose truth comes from what was written."""

import datetime
import random

import case_generators
from cases import Alert, Case, Points

BEGAN = case_generators.BEGAN


def curve(name, count, bad_from=None, bad="nan", begin=3.0, fall=0.5, form="%.4f"):
    """Losses as a log prints them: falling, with noise; from the index `bad_from` on `bad`."""
    source = random.Random(name)
    values = [form % (begin - fall * index / count + 0.02 * source.random()) for index in range(count)]
    return values if bad_from is None else values[:bad_from] + [bad] * (count - bad_from)


def at(seconds, form="%Y-%m-%d %H:%M:%S"):
    """A time stamp; %f is in milliseconds."""
    moment = BEGAN + datetime.timedelta(seconds=seconds)
    return moment.strftime(form.replace("%f", "%03d" % (moment.microsecond // 1000)))


def unix(seconds):
    return (BEGAN - datetime.datetime(1970, 1, 1)).total_seconds() + seconds


def files(**texts):
    """A generator of files; a name has __ for /, and _dot_ for a dot."""
    def make(directory):
        for name, text in texts.items():
            case_generators.write(directory, name.replace("__", "/").replace("_dot_", "."), text)
    return make


def one(name, lines, joiner=""):
    def make(directory):
        case_generators.write(directory, name, lines if isinstance(lines, (bytes, str)) else joiner.join(lines))
    return make


def bad(losses, step=None, last_step=None, **more):
    """The alert for the first loss that is not finite."""
    first = next(index for index, loss in enumerate(losses) if loss.lower().lstrip("+-").strip('"') in ("nan", "inf", "infinity"))
    return Alert("loss_nan", "critical", step=step, last=(float(losses[first - 1].strip('"')), last_step), **more)


def first_bad(losses):
    return next((index for index, loss in enumerate(losses) if loss.lower().lstrip("+-").strip('"') in ("nan", "inf", "infinity")), None)


def row(name, make, losses, **more):
    """A case with these losses in this order; healthy ones must be quiet."""
    index = first_bad(losses)
    points = Points(count=len(losses), first_bad=index, ends=(float(losses[0].strip('"')),), first=more.pop("first", None), last=more.pop("last", None))
    given, bad_step = more.pop("alerts", ()), more.pop("bad_step", None)
    alerts = given if index is None else (bad(losses, bad_step), *given)
    more.setdefault("quiet", not alerts and not more.get("may"))
    return Case(name, make=make, points=(points, *more.pop("points", ())), alerts=alerts, **more)


def nothing(name, make):
    return Case(name, make=make, nothing=True)
