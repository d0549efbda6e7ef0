# SPDX-License-Identifier: Apache-2.0
"""The page of a trainwatch that has stored very many alerts: it asks for few of them, and resolved ones come in pages. TRAINWATCH_ALERTS=100000 is the whole test; without it there are 5,000."""

import json
import os
import subprocess

import harness
import live_job
import page_test
import spiky_job

ALERTS = int(os.environ.get("TRAINWATCH_ALERTS", "5000"))
LOST_US = 500_000
PAGES, PAGE = 30, 20
MOST_ASKED = 6  # requests for alerts until a page is there, however many are stored
STORAGE = ["--storage.retention-alerts=%d" % (4 * ALERTS + 1000), "--storage.retention-age=3649d"]  # the job is of 2026


class PageAlertsTest(harness.JobTest):
    def test_few_are_asked_for(self):
        spiky_job.SpikyJob(self.directory, ALERTS, seed=1).write_all()
        with harness.Trainwatch(self.directory, *spiky_job.RULES, *STORAGE, state=self.state,
                                patience=harness.PATIENCE_SECONDS + ALERTS / 100) as trainwatch:
            ended = self.resolved(trainwatch)
            self.write_one_that_fires()  # for half a minute, until its run is finished
            harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?state=firing")["alerts"], "it fires")
            seen = json.loads(subprocess.run(
                ["node", os.path.join(page_test.FOLDER, "page", "many_alerts.mjs"), trainwatch.url, str(PAGES)],
                stdout=subprocess.PIPE, text=True, check=True).stdout)
        best = {name: min(load[name] for load in seen["loads"]) for name in ("paint", "firing", "resolved")}
        asked = [load["asked"] for load in seen["loads"]]
        print("first paint after %.0f ms, what fires after %.0f ms, what was resolved after %.0f ms, best of three; %s requests for alerts" % (
            best["paint"], best["firing"], best["resolved"], asked))
        print("%d pages of resolved alerts: %.0f ms at the median, %.0f ms at most; %d requests" % (
            PAGES, sorted(seen["older"])[PAGES // 2], max(seen["older"]), seen["asked"]))
        self.assertEqual(seen["errors"], [])
        self.assertEqual(len(set(seen["ids"])), (PAGES + 1) * PAGE)
        times = [ended[each] for each in seen["ids"]]
        times = [time[:len("2026-11-21T08:16:56.770")] for time in times]  # the page's are milliseconds
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertLessEqual(max(asked), MOST_ASKED)
        self.assertLessEqual(seen["asked"], 2 * PAGES)

    def write_one_that_fires(self):
        """A job whose last wait is a slow one."""
        rank = live_job.Rank(live_job.now_us() - 40_000_000, 1)
        timeline = live_job.RotatedTimeline(os.path.join(self.directory, "last"), "0-algo-1", rank)
        timeline.write_until(live_job.now_us() - 2_000_000)
        rank.lose(LOST_US)
        timeline.write_until(rank.base_us + rank.end_us + live_job.STEP_US + LOST_US)

    def resolved(self, trainwatch):
        """id -> when it ended, of the latest ones, once all are stored."""
        harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?limit=1")["last_seq"] >= 2 * ALERTS - 10, "all are stored")
        last = trainwatch.json("/api/v1/alerts?limit=1")["last_seq"]
        print("%d messages about alerts are stored" % last)
        pages = [trainwatch.json("/api/v1/alerts?state=resolved&after=%d&limit=500" % after)["alerts"]
                 for after in range(max(0, last - 10_000), last, 500)]
        return {alert["id"]: alert["ended_at"] for page in pages for alert in page}


if __name__ == "__main__":
    page_test.require()
    harness.main()
