"""docs/metrics.md is what /metrics of a job with every kind of input says. `metrics_doc_test.py BINARY --update`
writes it again."""

import json
import os
import subprocess
import sys

import harness
import metrics_doc

PAGE = os.path.join(harness.ROOT, "docs", "metrics.md")
SUPPORT = os.path.join(harness.ROOT, "tests", "support")


# Series that `trainwatch sample` writes and SageMaker does not.
SAMPLED = ([("gpu", "gpu0", name) for name in ("GPUSmClock", "GPUMemoryClock", "GPUThrottleReasons", "GPUTemperature",
                                               "GPUPower", "GPUEccErrors", "GPUXid")]
           + [("pressure", resource + "Pressure" + kind, "") for resource in ("CPU", "IO", "Memory")
              for kind in ("Some", "Full")]
           + [("cgroup", name, "") for name in ("CPUThrottledPercent", "MemoryUsedPercent",
                                                "ReadThroughputInBytesPerSecond",
                                                "WriteThroughputInBytesPerSecond")])


class MetricsDocTest(harness.JobTest):
    def generate(self, script, *arguments):
        subprocess.run([sys.executable, os.path.join(SUPPORT, script), *arguments], check=True,
                       stdout=subprocess.DEVNULL)

    def sample(self):
        with open(os.path.join(self.directory, "1700000000.sampled.json"), "w") as file:
            for kind, name, dimension in SAMPLED:
                file.write(json.dumps({"Type": kind, "Name": name, "Dimension": dimension, "Value": 1,
                                       "NodeId": "sampled", "Timestamp": 1700000000.5}) + "\n")

    def test_up_to_date(self):
        self.sample()
        self.generate("sagemaker_job_gen.py", "job", "--out", self.directory, "--seconds", "20")
        self.generate("kineto_gen.py", "--out", self.directory, "--scenario", "comm_bound", "--ranks", "2",
                      "--steps", "4")
        with harness.Trainwatch(self.directory, state=self.state) as trainwatch:
            trainwatch.wait_until_read()
            harness.wait_for(lambda: "trainwatch_source_stuck{" in trainwatch.get("/metrics"), "the health of the source")
            made = metrics_doc.markdown(trainwatch.get("/metrics"))
        if "--update" in sys.argv:
            with open(PAGE, "w") as file:
                file.write(made)
        with open(PAGE) as file:
            self.assertEqual(file.read(), made)


if __name__ == "__main__":
    harness.main()
