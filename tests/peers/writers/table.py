# SPDX-License-Identifier: Apache-2.0
"""What is read of recorded trainings, as a table.

    table.py BINARY DIR     DIR/NAME/{healthy,nan} are what NAME.py wrote, DIR/NAME/{healthy,nan}.truth.json what it trained

A row is one file. `losses`: records read as they were logged; `steps`: the last step of the run, of all; `s/step`: by how
much the pace of the finished file is wrong (a file without times has none); `alerts`: critical ones of the healthy training;
`NaN at`: the step at which loss_nan is critical, and the one at which the file has the first NaN.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "e2e"), HERE]

import harness  # noqa: E402
import reading  # noqa: E402


def pace(runs, log):
    """By how much the pace of each run is not that of the file (of median and mean, the nearer one)."""
    if log.records[0]["step"] is None:
        return "-"
    off = [min((run["seconds_per_step"] / seconds - 1 for seconds in log.seconds_per_step()), key=abs) for run in runs
           if run["seconds_per_step"]]
    return " ".join("%+.0f%%" % (100 * one) for one in off) or "-"


def healthy_cells(log):
    """What is read of one file of a healthy training."""
    points, series = reading.losses_of(log) if log.tag else ([], [])
    wrong = len(reading.wrong_losses(log, points)) if log.tag else len(log.records)
    right = len(log.records) - wrong
    runs = reading.runs_of(log.path)
    last = log.records[-1]["step"]
    return [reading.format_of(log.path)[0] or "-", "%d/%d" % (right, len(log.records)),
            ",".join("%s (%s)" % one for one in series) or "-",
            "%s/%s" % (",".join(str(run["step"]) for run in runs) or "-", last), pace(runs, log),
            str(len(reading.critical(reading.alerts_of(log.path))))]


def nan_cell(folder, name):
    """Of the same file of the training whose loss becomes NaN."""
    truth = os.path.join(folder, "nan.truth.json")
    if not os.path.exists(truth):
        return "-"
    log, = (log for log in reading.Training(os.path.join(folder, "nan"), truth).logs if log.name == name)
    if log.nan_steps() is None or log.tag is None:
        return "no NaN in it"
    steps = reading.nan_steps(reading.alerts_of(log.path))
    return "%s/%s" % (",".join(map(str, steps)) or "-", log.nan_steps()[1])


def main():
    harness.api_schema.check_response = lambda *_: None  # the binary may be of another revision than the documents
    rows = [["writer", "file", "format", "losses", "as", "steps", "s/step", "alerts", "NaN at", "verdict"]]
    for name in sorted(os.listdir(sys.argv[2])):
        folder = os.path.join(sys.argv[2], name)
        truth = os.path.join(folder, "healthy.truth.json")
        if not os.path.exists(truth):
            continue
        for log in reading.Training(os.path.join(folder, "healthy"), truth).logs:
            try:
                rows.append([name, log.name, *healthy_cells(log), nan_cell(folder, log.name)])
                right, whole = map(int, rows[-1][3].split("/"))
                rows[-1].append("read" if right == whole else "partly" if right else "not read")
            except (harness.Ended, IndexError, OSError) as crash:  # no answer at all
                rows.append([name, log.name, *["-"] * 7, "crashed: %s" % crash.args[0]])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
