# SPDX-License-Identifier: Apache-2.0
"""The dashboards as Grafana's own libraries from npm see them: they are of the type that its schema describes, their units
are known, and its transformations make of a real Prometheus' answers the tables that are meant.

Grafana itself is not needed. `npm ci` fetches the libraries beside this test, once."""

import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

import harness  # noqa: E402
import dashboard_lint  # noqa: E402
import dashboards_test  # noqa: E402

LIBRARIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grafana")


def fetch_libraries():
    """False: they are not to be had."""
    if os.path.isdir(os.path.join(LIBRARIES, "node_modules", "typescript")):
        return True
    return subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=LIBRARIES,
                          stdout=subprocess.DEVNULL, check=False).returncode == 0


def frame(target, data, alone):
    """A table, as the data source Prometheus makes one of an instant query, which is `alone` or one of several."""
    value = "Value" if alone else "Value #" + target["refId"]
    labels = sorted({label for series in data for label in series["metric"]})
    columns = {"Time": [series["value"][0] * 1000 for series in data]}
    columns.update({label: [series["metric"].get(label, "") for series in data] for label in labels})
    columns[value] = [float(series["value"][1]) for series in data]
    return {"refId": target["refId"], "fields": [
        {"name": name, "type": "time" if name == "Time" else "number" if name == value else "string",
         "values": values} for name, values in columns.items()]}


class GrafanaTest(harness.JobTest):
    maxDiff = None

    def test_types(self):
        """tsc says what does not fit the schema, with the place in the JSON."""
        config = os.path.join(self.directory, "tsconfig.json")
        os.symlink(os.path.join(LIBRARIES, "node_modules"), os.path.join(self.directory, "node_modules"))
        os.symlink(os.path.join(LIBRARIES, "panel_types.ts"), os.path.join(self.directory, "panel_types.ts"))
        for name, model in dashboards_test.models().items():
            with open(os.path.join(self.directory, name.replace(".json", ".ts")), "w") as file:
                file.write("import type { DashboardJson } from './panel_types';\n"
                           "export const dashboard: DashboardJson = %s;\n" % json.dumps(model, indent=1))
        with open(config, "w") as file:
            json.dump({"compilerOptions": {"noEmit": True, "strict": True, "skipLibCheck": True, "types": [],
                                           "preserveSymlinks": True, "module": "esnext", "target": "es2022",
                                           "moduleResolution": "bundler"}, "include": ["*.ts"]}, file)
        done = subprocess.run(["node", os.path.join(LIBRARIES, "node_modules", "typescript", "bin", "tsc"), "-p", config],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_units_and_tables(self):
        tables = {panel["title"]: panel for model in dashboards_test.models().values()
                  for panel in dashboard_lint.panels(model) if "transformations" in panel}
        answer = self.ask_grafana({"units": sorted(dashboard_lint.UNITS), "panels": [
            {"transformations": panel["transformations"], "frames": frames}
            for panel, frames in zip(tables.values(), self.answers(tables.values()))]})
        self.assertEqual(answer["unknownUnits"], [])
        made = dict(zip(tables, answer["panels"]))
        for title, panel in tables.items():
            self.assertEqual(len(made[title]), 1, title)
            names = [field["name"] for field in made[title][0]["fields"]]
            self.assertNotIn("Time", names, title)
            for name in set(re.findall(r"__data\.fields\.(\w+)", json.dumps(panel))):
                self.assertIn(name, names, title)
        self.check_rows("Runs", made, ["run", "choice"], [["finetune", "finetune"], ["pretrain", "pretrain"]])
        self.check_rows("What fires", made, ["rule", "train_job", "node", "rank"],
                        [["input_bound", "pretrain", "trainer-0", "1"]])
        self.check_rows("Slowest ranks", made, ["run", "rank"], [["pretrain", str(rank)] for rank in range(4)])
        self.check_rows("Phases of a step, by rank", made, ["row\\phase"],
                        [["pretrain 000%d" % rank] for rank in range(4)])
        self.assertEqual(len(made["Instances"][0]["rows"]), 1)

    def check_rows(self, title, made, names, wanted):
        """These fields of the rows are among those of the table, and each once."""
        table, = made[title]
        places = [[field["name"] for field in table["fields"]].index(name) for name in names]
        rows = [[row[place] for place in places] for row in table["rows"]]
        for row in wanted:
            self.assertEqual(rows.count(row), 1, (title, row, table))

    def answers(self, panels):
        """Of a Prometheus that scraped a running job: the frames of each panel."""
        with dashboards_test.scraped_cluster(self.directory) as prometheus:
            now = time.time()
            return [[frame(target, prometheus.ask("/api/v1/query", time=now, query=dashboards_test.filled_in(
                target["expr"]))["result"], len(panel["targets"]) == 1) for target in panel["targets"]] for panel in panels]

    def ask_grafana(self, request):
        done = subprocess.run(["node", os.path.join(LIBRARIES, "transform.cjs")], input=json.dumps(request), text=True,
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)


if __name__ == "__main__":
    if not fetch_libraries():
        harness.skip("npm cannot fetch Grafana's libraries")
    harness.main()
