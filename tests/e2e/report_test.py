# SPDX-License-Identifier: Apache-2.0
"""`trainwatch report`: a page that is well-formed, needs nothing beside it, and has the numbers of `analyze`."""
import cProfile
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

SUPPORT = os.path.join(harness.ROOT, "tests", "support")
CONFIG = "--config.file=" + os.path.join(harness.ROOT, "config", "sagemaker.yaml")
VOID = {"meta", "br", "img", "link", "input", "hr"}
LARGEST = 3_000_000

# Table of the page -> the analysis, where in it, the column that names a row, and the columns of the figures.
DURATIONS = ["count"] + ["duration_%s_us" % name for name in ("mean", "min", "p50", "p95", "p99", "max")]
UTILIZATION = ["count"] + ["utilization_" + name for name in ("mean", "min", "p50", "p95", "p99", "max")]
TABLES = {
    "step-phases": ("step_statistics", "training_phase", DURATIONS),
    "step-metrics": ("step_statistics", "framework_metric", DURATIONS),
    "step-processes": ("step_statistics", "process", DURATIONS),
    "utilization": ("utilization_stats", "by_dimension", UTILIZATION),
    "device-usage": ("device_usage_stats", None, ["(0, 10)", "(10, 90)", "(90, 100)"]),
}


class Page(html.parser.HTMLParser):
    """Collects what the tests look at, and fails where an element is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.outside, self.tags = [], [], [], [], set()
        self.tables, self.fired, self.text, self._table = {}, {}, [], None
        self.feed(text)
        self.close()
        assert not self.open, "not closed: %s" % self.open

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        assert tag not in VOID, "<%s> has no end" % tag
        self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, "</%s> in %s" % (tag, self.open)
        _, attributes = self.open.pop()
        if tag == "table":
            self._table = None
        if tag == "tr" and "data-rule" in attributes:
            self.fired[attributes["data-rule"]] = int(self._table[-1][0])

    def handle_startendtag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])
        self.outside += [name for name in attributes if name in ("src", "srcset", "action", "data", "xlink:href")
                         or name.startswith("on")]
        if tag == "table":
            self._table = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr":
            self._table.append([])
        elif tag == "data" and self._table:
            self._table[-1].append(attributes["value"])

    def handle_data(self, data):
        self.text.append(data)

    def figures(self, table):
        """The rows of a table, as the numbers they have; not the heading."""
        return [list(map(float, row)) for row in self.tables[table] if row]


def rows_of(table, columns):
    places = [table["columns"].index(column) for column in columns]
    return [[float(row[place]) for place in places] for row in table["rows"]]


class ReportTest(harness.JobTest):
    def generate(self, scenario, seconds=150):
        subprocess.run([sys.executable, os.path.join(SUPPORT, "sagemaker_job_gen.py"), "job", "--scenario", scenario,
                        "--seconds", str(seconds), "--nodes", "2", "--out", self.directory],
                       check=True, stdout=subprocess.DEVNULL)

    def report(self, *arguments):
        path = os.path.join(os.path.dirname(self.directory), "report.html")
        done = harness.run("report", self.directory, "-o", path, CONFIG, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        with open(path, encoding="utf-8") as file:
            return file.read()

    def check(self, text):
        """What is true of every page."""
        self.assertLess(len(text.encode()), LARGEST)
        page = Page(text)
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id twice")
        self.assertEqual([link for link in page.links if link[0] != "#" or link[1:] not in page.ids], [])
        self.assertEqual(page.outside, [])
        self.assertFalse(page.tags & {"link", "iframe", "img", "object", "embed", "form", "base"})
        for word in ("url(", "@import"):
            self.assertNotIn(word, text)
        return page

    def analyze(self, *names):
        done = harness.run("analyze", self.directory, "--what=" + ",".join(names))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_loss_is_drawn_and_that_it_was_ruined_is_said(self):
        self.generate("evalphase")
        with open(os.path.join(self.directory, "console.log"), "w") as file:
            for step in range(3000):
                file.write("{'loss': %s, 'grad_norm': 1.5, 'learning_rate': 4.9e-05, 'epoch': %.2f}\n"
                           % ("nan" if step >= 2990 else 2 + 1 / (1 + step), step / 1000))
        text = self.report("--rules=loss_nan")
        self.check(text)
        block = re.search(r'<script type="application/json" id="trainwatch-answers">(.*?)</script>', text, re.S).group(1)
        answers = json.loads(block)
        series = {each["tag"]: each for each in answers["/api/v1/scalars"]["series"]}
        self.assertEqual(set(series), {"loss", "grad_norm", "learning_rate", "epoch"})
        values = [point[2] for point in series["loss"]["points"]]
        self.assertTrue(100 <= len(values) <= 256, len(values))
        self.assertEqual((values[0], values[-11:]), (3, [values[-11]] + 10 * ["NaN"]))
        self.assertIn("its loss was no finite number", answers["/api/v1/runs"]["runs"][0]["headline"]["text"])

    def test_its_numbers_are_those_of_analyze(self):
        self.generate("evalphase")
        page = self.check(self.report())
        results = self.analyze("job_statistics", "step_statistics", "utilization_stats", "device_usage_stats",
                               "dataloader_getnext", "dataloader_workers", "batchtime",
                               "dataloader_initialization")
        for table, (analysis, part, columns) in TABLES.items():
            expected = rows_of(results[analysis][part] if part else results[analysis], columns)
            self.assertGreater(len(expected), 0)
            # step_statistics is by name there, and by what takes longest here.
            self.assertEqual(sorted(page.figures(table)), sorted(expected), table)
        job = results["job_statistics"]
        self.assertEqual(page.figures("job-phases"), [[job["initialization_us"], job["initialization_%"]],
                                                      [job["training_loop_duration_us"], job["training_loop_%"]],
                                                      [job["finalization_us"], job["finalization_%"]]])
        calls = [results[name] for name in ("dataloader_getnext", "dataloader_workers", "batchtime")]
        self.assertEqual(page.figures("loader-calls"),
                         [[call["count"], call["median_us"], call["max_us"], call["outlier_count"]] for call in calls])
        (iterator,) = results["dataloader_initialization"].values()
        initializations = iterator["initializations"]
        self.assertEqual(page.figures("iterators"), [[iterator["num_workers"]] + [
            initializations[name] for name in ("count", "median_us", "max_us", "outlier_count")]])

    def test_each_rule_is_named_with_how_often_it_fired(self):
        self.generate("stepoutlier")
        text = self.report()
        page = self.check(text)
        alerts = harness.replay(self.directory, CONFIG)
        fired = {}
        for alert in harness.final(alerts).values():
            fired[alert["rule"]] = fired.get(alert["rule"], 0) + 1
            self.assertIn('data-alert="%s"' % alert["id"], text)
            self.assertIn(alert["summary"], "".join(page.text))
        self.assertIn("step_outlier", fired)
        self.assertEqual({rule: times for rule, times in page.fired.items() if times}, fired)
        self.assertEqual(len(page.fired), len(json.loads(harness.run("rules", "--format=json").stdout)))

    def test_functions_are_listed(self):
        self.generate("evalphase", 60)
        folder = os.path.join(self.directory, "framework", "pytorch", "cprofile", "0-algo-1",
                              "train-1-stepstart-1700000001.0_train-2-stepstart-1700000002.0")
        os.makedirs(folder)
        profile = cProfile.Profile()
        profile.runcall(sorted, range(1000), key=lambda number: -number)
        profile.dump_stats(os.path.join(folder, "python_stats"))
        page = self.check(self.report())
        results = self.analyze("python_profile")
        functions = results["python_profile"]["cprofile"]["training_loop"]["top_functions"]
        self.assertGreater(len(functions["rows"]), 1)
        self.assertEqual(page.figures("functions-cprofile-training_loop"),
                         rows_of(functions, ["ncalls", "total_time_ns", "cumulative_time_ns"]))

    def test_it_has_the_answers_that_the_page_asks_for(self):
        self.generate("stepoutlier", 60)
        text = self.report()
        with harness.Trainwatch(self.directory, CONFIG) as trainwatch:
            for path in ("/api/v1/heatmap?what=utilization", "/api/v1/histogram?what=utilization"):
                live = trainwatch.json(path + "&columns=256")
                self.assertEqual(self.answers(text)[path], live, path)
            recorded, live = (sum(chart["columns"]["steps"]) for chart in (
                self.answers(text)["/api/v1/steps"], trainwatch.json("/api/v1/steps")))
        self.assertGreater(live, 0)
        self.assertIn(recorded - live, range(3), "the last step of each rank waits for its waits")
        runs = self.answers(text)["/api/v1/runs"]["runs"]
        self.assertEqual([run["step"] for run in runs], [max(self.answers(text)["/api/v1/steps"]["columns"]["last_step"])])
        self.assertGreater(len(self.answers(text)["/api/v1/alerts"]["alerts"]), 0)

    def answers(self, text):
        found = re.search(r'<script type="application/json" id="trainwatch-answers">(.*?)</script>', text, re.S)
        return json.loads(found.group(1))

    def test_what_was_read(self):
        self.generate("normal", 30)
        with open(os.path.join(self.directory, "rubbish.pt.trace.json"), "w") as file:
            file.write("<script>alert(1)</script>" * 100)
        page = self.check(self.report())
        ((files, size, records, rejected, errors),) = page.figures("sources")
        sizes = [os.path.getsize(os.path.join(root, name))
                 for root, _, names in os.walk(self.directory) for name in names]
        self.assertEqual(files, len(sizes))
        status = self.answers(self.read())["/api/v1/status"]
        self.assertEqual(sum(source["files"] for source in status["sources"]), len(sizes))
        self.assertEqual(sorted(file["offset"] for file in status["files"]), sorted(sizes))
        self.assertLessEqual(size, sum(sizes))
        self.assertGreater(size, sum(sizes) / 2)
        self.assertGreater(records, 100)
        self.assertGreater(rejected, 0)
        self.assertEqual(errors, 0)

    def test_hostile_names(self):
        hostile = "<script>alert('1')</script>\"&"
        events = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": hostile}},
                  {"name": "start", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}}]
        events += [{"name": hostile + "n" * 3000, "pid": 1, "ph": "X", "ts": i * 1000, "dur": 900,
                    "args": {"step_num": str(i)}} for i in range(20)]
        events += [{"name": "Step:ModeKeys.TRAIN" + hostile, "pid": 1, "ph": "X", "ts": i * 1000, "dur": 950,
                    "args": {"step_num": str(i)}} for i in range(20)]
        folder = os.path.join(self.directory.encode(), b"framework", b"pevents", b"2023111422")
        os.makedirs(folder)
        with open(os.path.join(folder, b"1700000000020000_0-algo\xff-1_pythontimeline.json"), "w") as file:
            json.dump(events, file)
        page = self.check(self.report())
        self.assertIn(hostile, "".join(page.text))

    def test_no_files_and_kineto_traces(self):
        self.assertIn("No rule fired.", "".join(self.check(self.report()).text))
        harness.play.play(harness.JOB, self.directory, speed=0)
        page = self.check(self.report())
        self.assertGreater(sum(page.fired.values()), 0)

    def test_the_work_of_the_gpu_is_that_of_analyze(self):
        """But for the columns of nodes, which the trace does not name, and of times since the epoch."""
        trace = os.path.join(harness.ROOT, "tests", "data", "hta", "kineto", "format_int_us")
        shutil.copytree(trace, self.directory, dirs_exist_ok=True)
        page = self.check(self.report())
        results = self.analyze("temporal_breakdown", "comm_comp_overlap", "profiler_steps")
        for name, result in results.items():
            numbers = [[value for value, column in zip(row, result["columns"]) if column not in ("node", "ts_ns")]
                       for row in result["rows"]]
            self.assertGreater(len(numbers), 0, name)
            self.assertEqual(page.figures(name), numbers[:20], name)
        self.assertIn("not judged: these files have nothing that it is about", "".join(page.text))

    def test_standard_output_and_refusals(self):
        self.generate("normal", 20)
        text = self.report()
        done = harness.run("report", self.directory, "-o", "-", CONFIG)
        self.assertEqual((done.returncode, done.stdout), (0, text))
        for code, arguments in ((2, [self.directory]), (1, ["/nowhere", "-o", "-"]),
                                (2, [self.directory, "-o", "-", "--job=none"]),
                                (1, [self.directory, "-o", "/nowhere/report.html"]),
                                (1, [self.directory, "-o", self.directory]),
                                (78, [self.directory, "-o", "-", "--config.file=/nowhere"])):
            with self.subTest(arguments=arguments):
                refused = harness.run("report", *arguments)
                self.assertEqual((refused.returncode, refused.stdout), (code, ""))
                self.assertTrue(refused.stderr)
        beside = os.listdir(os.path.dirname(self.directory))
        self.assertEqual([name for name in beside if name.endswith(".tmp")], [])

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_a_browser_shows_it(self):
        self.generate("stepoutlier", 600)
        self.report()
        folder = os.path.dirname(self.directory)
        with tempfile.TemporaryDirectory() as profile:
            shown = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--enable-logging=stderr", "--user-data-dir=" + profile, "--virtual-time-budget=5000", "--dump-dom",
                 "file://" + os.path.join(folder, "report.html")],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE_SECONDS, check=True)
        self.assertNotIn("CONSOLE", shown.stderr)
        self.assertEqual(shown.stdout.count("<tr data-rule") or shown.stdout.count("data-rule="),
                         self.read().count("data-rule="))
        self.assertIn("step_outlier", shown.stdout)
        self.check_gain(shown.stdout)

    def check_gain(self, shown):
        """What fixing the worst cause gives, and how, is said beside the headline."""
        (run,) = self.answers(self.read())["/api/v1/runs"]["runs"]
        cause, lost = max(run["lost_seconds"].items(), key=lambda each: each[1])
        self.assertEqual(cause, "input_wait")
        gain = re.search(r'<p class="gain">(.*?)</p>', shown, re.S)
        text = re.sub(r"\s+", " ", re.sub(r"<.*?>", "", gain.group(1)))
        percent = 100 * (run["elapsed_seconds"] / (run["elapsed_seconds"] - lost) - 1)
        found = re.match(r"Without waiting for data it would have been (\d+) % faster: ([\d.]+) s or [\d.]+ % of the time\. (.+)", text)
        self.assertIsNotNone(found, text)
        self.assertAlmostEqual(int(found.group(1)), percent, delta=0.51)
        self.assertAlmostEqual(float(found.group(2)), lost, delta=0.051)
        nexts = [alert["next"] for alert in self.answers(self.read())["/api/v1/alerts"]["alerts"]
                 if alert.get("cause", {}).get("name") == cause]
        self.assertIn(found.group(3).strip(), nexts)
        self.assertNotIn('<a class="trace"', shown)

    def read(self):
        with open(os.path.join(os.path.dirname(self.directory), "report.html"), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    harness.main()
