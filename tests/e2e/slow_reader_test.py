# SPDX-License-Identifier: Apache-2.0
"""A reader of standard output that falls behind: alerts that did not fit into the pipe are retried soon, and none is
lost below the limit."""

import fcntl
import json
import os

import harness
import spiky_job

ALERTS = 80  # with their ends, 160 lines: one each second would take longer than harness.PATIENCE_SECONDS
PIPE_BYTES = 4096  # room for one alert
F_SETPIPE_SZ = 1031


class SlowReaderTest(harness.JobTest):
    def test_gets_all_lines_soon(self):
        path = os.path.join(os.path.dirname(self.directory), "alerts")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
        spiky_job.SpikyJob(self.directory, ALERTS, seed=1, ranks=1, steps_per_file=60).write_all()
        with harness.Trainwatch(self.directory, "--format=json", *spiky_job.RULES,
                                prefix=("sh", "-c", 'exec "$@" > ' + path, "sh")) as trainwatch:
            trainwatch.wait_until_read()
            harness.wait_for(lambda: not trainwatch.json("/api/v1/alerts?state=firing")["alerts"], "the run is over")
            last = trainwatch.json("/api/v1/alerts?limit=1")["last_seq"]
            lines = self.read_lines(reader, last)
        self.assertGreater(last, harness.PATIENCE_SECONDS)
        self.assertEqual([json.loads(line)["seq"] for line in lines], list(range(1, last + 1)))

    def read_lines(self, reader, count):
        read = []

        def more():
            try:
                read.append(os.read(reader, PIPE_BYTES))
            except BlockingIOError:
                pass
            return b"".join(read).count(b"\n") >= count

        harness.wait_for(more, "%d lines" % count)
        return b"".join(read).splitlines()


if __name__ == "__main__":
    harness.main()
