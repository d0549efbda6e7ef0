# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md is what /metrics of a job with every kind of input says. `metrics_doc_test.py BINARY --update`
writes it again."""

import os
import sys

import harness
import metrics_doc
import rich_job

PAGE = os.path.join(harness.ROOT, "docs", "metrics.md")


class MetricsDocTest(harness.JobTest):
    def test_up_to_date(self):
        page = rich_job.scrape(harness.Trainwatch, self.directory)
        made = metrics_doc.markdown(page, rich_job.metrics(harness.Trainwatch, self.directory, "--metrics.cardinality=low"))
        if "--update" in sys.argv:
            with open(PAGE, "w") as file:
                file.write(made)
        with open(PAGE) as file:
            self.assertEqual(file.read(), made)


if __name__ == "__main__":
    harness.main()
