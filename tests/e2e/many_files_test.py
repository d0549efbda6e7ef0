# SPDX-License-Identifier: Apache-2.0
"""A tree of thousands of files that nobody understands beside a good job: the job's alerts come and stay the
same, memory and CPU time stay small, a file that grows is read. TRAINWATCH_FILES=50000 for the
figures of the documentation."""

import os
import shutil
import time

import harness

FILES = int(os.environ.get("TRAINWATCH_FILES", "5000"))
RSS_MIB = 256
IDLE_SECONDS, IDLE_CPU_SECONDS = 5, 1  # it takes some 0.05; scripts/bench.sh idle says it exactly


class ManyFilesTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        for number in range(FILES):
            folder = os.path.join(self.directory, "a", "%03d" % (number // 100))
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "%05d.jsonl" % number), "w") as file:
                file.write('{"step": %d, "loss": 0.5}\n' % number)
        self.job = os.path.join(self.directory, "job")
        shutil.copytree(harness.JOB, self.job, ignore=shutil.ignore_patterns("*.py"))

    def status_of(self, trainwatch, key):
        with open("/proc/%d/status" % trainwatch.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))

    def cpu_seconds(self, trainwatch):
        with open("/proc/%d/stat" % trainwatch.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_a_good_job_among_them(self):  # catalogue 52
        rules = sorted(alert["rule"] for alert in harness.replay(self.job))
        self.assertEqual(sorted(alert["rule"] for alert in harness.replay(self.directory)), rules)
        begun = time.monotonic()
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            ready = time.monotonic() - begun
            alerts = trainwatch.json("/api/v1/alerts?after=0")["alerts"]
            seen = {alert["rule"] for alert in alerts if not alert["rule"].startswith("_self/")}
            self.assertGreater(len(seen), 0)
            self.assertEqual(seen - set(rules), set())
            self.assertEqual(trainwatch.json("/api/v1/status")["limits"]["files_dropped"], 0)
            self.assertGreaterEqual(trainwatch.metric("trainwatch_files_tracked"), FILES)

            grown = os.path.join(self.directory, "a", "000", "00000.jsonl")
            before = trainwatch.metric("trainwatch_input_bytes_total")
            appended = time.monotonic()
            with open(grown, "a") as file:
                file.write('{"step": 1}\n')
            harness.wait_for(lambda: trainwatch.metric("trainwatch_input_bytes_total") > before, "it is read")
            delay = time.monotonic() - appended

            time.sleep(2)
            before = self.cpu_seconds(trainwatch)
            time.sleep(IDLE_SECONDS)
            used = self.cpu_seconds(trainwatch) - before
            rss = self.status_of(trainwatch, "VmHWM") / 1024
        print("%d files: ready after %.1f s, %.0f MiB, %.1f %% of a core, a change seen after %.2f s" %
              (FILES, ready, rss, 100 * used / IDLE_SECONDS, delay))
        self.assertLess(rss, RSS_MIB)
        self.assertLess(used, IDLE_CPU_SECONDS)


if __name__ == "__main__":
    harness.main()
