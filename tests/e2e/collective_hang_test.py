# SPDX-License-Identifier: Apache-2.0
"""Dumps of PyTorch's Flight Recorder appear one after the other: one incident names who holds up the others, once, also
across a kill; a replay says the same. With ../shared, the dumps of real jobs with injected faults."""

import glob
import json
import os
import pickle
import re
import shutil
import signal
import tempfile
import time
import unittest

import harness

RANKS = 8
CALLED = 1_700_000_000_000_000_000
SHARED = os.path.join(harness.ROOT, "..", "shared", "data", "flight_recorder")


def dump(rank, absent, called=CALLED):
    """All but the absent ranks wait in the 17th all_reduce."""
    entry = {"record_id": 100 + rank, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 17,
             "p2p_seq_id": 0, "op_id": 17, "profiling_name": "nccl:all_reduce", "time_created_ns": called + rank,
             "input_sizes": [[1024, 1024]], "output_sizes": [[1024, 1024]], "input_dtypes": ["Float"],
             "output_dtypes": ["Float"], "state": "scheduled", "time_discovered_started_ns": None,
             "time_discovered_completed_ns": None, "retired": False, "timeout_ms": 600000, "is_p2p": False,
             "frames": [{"name": "all_reduce", "filename": "distributed.py", "line": 12}]}
    enqueued = 16 if rank in absent else 17
    return {"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(RANKS)))}},
            "nccl_version": "2.27.3", "pg_status": {"0": {"last_enqueued_collective": enqueued,
                                                          "last_started_collective": -1,
                                                          "last_completed_collective": 16}},
            "entries": [] if rank in absent else [entry]}


def write(directory, rank, absent, protocol=2, called=CALLED, written=CALLED + 182 * 10**9):
    path = os.path.join(directory, "comm_traces", "rank_%d" % rank)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile(delete=False) as out:
        pickle.dump(dump(rank, absent, called), out, protocol)
    os.utime(out.name, ns=(written,) * 2)
    os.replace(out.name, path)  # nobody sees it before it is that old


def hangs(alerts):
    return [alert for alert in alerts if alert["rule"] == "collective_hang"]


class CollectiveHangTest(harness.JobTest):
    def test_names_the_ranks_that_are_absent(self):
        for protocol in (2, 4, 5):
            for rank in range(RANKS):
                write(self.directory, rank, {3, 5}, protocol)
            alert, = hangs(harness.final(harness.replay(self.directory)).values())
            self.assertEqual(alert["summary"], "Ranks 3,5 have not entered all_reduce #17 of default_pg (8 ranks); 6 wait "
                                               "since 3.03 min.")
            self.assertEqual(alert["evidence"]["suspects"], [3, 5])
            self.assertEqual(alert["evidence"]["waiting"], "0-2,4,6-7")
            self.assertEqual((alert["severity"], alert["evidence"]["confidence"]), ("critical", "high"))

    def test_live_one_by_one_across_a_kill(self):
        def at(path):
            return os.path.join(self.directory, "comm_traces", path)
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            for rank in range(5):
                write(self.directory, rank, {3, 5})
            daemon.wait_until_read()
            daemon.signal(signal.SIGKILL)
            daemon.wait()
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            for rank in range(5, RANKS):
                write(self.directory, rank, {3, 5})
            found = harness.wait_for(
                lambda: [a for a in hangs(daemon.json("/api/v1/alerts?parts=1")["alerts"])
                         if a["evidence"]["suspects"] == [3, 5]], "the hang")
        with harness.Trainwatch(self.directory, state=self.state) as daemon:
            with open(os.path.join(self.directory, "stderr.log"), "w") as log:  # what is read after the restart
                log.write("training\n")
            daemon.wait_until_read()
            alerts = hangs(daemon.json("/api/v1/alerts?parts=1")["alerts"])
        self.assertEqual(len({alert["id"] for alert in alerts}), 1)
        replayed, = hangs(harness.final(harness.replay(self.directory)).values())
        self.assertEqual((found[-1]["id"], found[-1]["summary"]), (replayed["id"], replayed["summary"]))
        self.assertTrue(os.path.exists(at("rank_7")))

    def test_lines_of_the_watchdog_without_dumps(self):
        """Ranks 0 to 2 wait; what rank 3 prints shows that it has not come there."""
        clock = time.strftime("%m%d %H:%M:%S", time.localtime(CALLED // 10**9 + 180)).lstrip("0")
        for rank in range(4):
            prefix = "[rank%d]:[E%s.5 ProcessGroupNCCL.cpp:" % (rank, clock)
            owner = "[PG ID 0 PG GUID 0(default_pg) Rank %d] " % rank
            timeout = (prefix + "685] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=17, "
                       "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=180000) ran for 180500 milliseconds before "
                       "timing out.\n" % rank + prefix + "2271] " + owner + " failure detected by watchdog at work sequence "
                       "id: 17 PG status: last enqueued work: 17, last completed work: 16\n")
            signal_line = (prefix + "1537] " + owner + "Received a dump signal due to a collective timeout from rank 0 and we "
                           "will try our best to dump the debug info. Last enqueued NCCL work: 16, last completed NCCL work: "
                           "16.\n")
            path = os.path.join(self.directory, "attempt_0", str(rank), "stderr.log")
            os.makedirs(os.path.dirname(path))
            with open(path, "w") as log:
                log.write("training\n" + (signal_line if rank == 3 else timeout) + "terminate called\n")
            os.utime(path, ns=(CALLED + 185 * 10**9,) * 2)
        alert, = hangs(harness.final(harness.replay(self.directory)).values())
        self.assertEqual(alert["summary"], "Rank 3 has not entered ALLREDUCE #17 of default_pg; 3 wait since 3.01 min.")
        self.assertEqual(alert["cause"]["name"], "collective_hang")
        self.assertEqual((alert["evidence"]["from_lines"], alert["evidence"]["confidence"]), ("0-3", "medium"))
        self.assertEqual(alert["started_at"], time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(CALLED // 10**9)))
        os.remove(os.path.join(self.directory, "attempt_0", "3", "stderr.log"))
        alert, = hangs(harness.final(harness.replay(self.directory)).values())
        self.assertEqual(alert["evidence"]["suspects"], [])

    def test_a_truncated_or_strange_dump_is_a_reject(self):
        for rank in range(RANKS):
            write(self.directory, rank, {3})
        path = os.path.join(self.directory, "comm_traces", "rank_1")
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) - 1)
        with open(os.path.join(self.directory, "comm_traces", "rank_2"), "wb") as out:
            out.write(b"\x80\x02}(X\x07\0\0\0versioncos\nsystem\nX\x02\0\0\0id\x85Ru.")
        alert, = hangs(harness.final(harness.replay(self.directory)).values())
        self.assertEqual(alert["evidence"]["suspects"], [3])
        self.assertEqual(alert["evidence"]["no_dump"], "1-2")

    def test_real_faults(self):
        if not os.path.isdir(SHARED):
            raise unittest.SkipTest("no ../shared")
        for fault in sorted(os.listdir(SHARED)):
            with open(os.path.join(SHARED, fault, "fault_injection.log")) as log:
                truth = json.loads(re.search(r"Fault ranks: (\[.*\])", log.read()).group(1))
            job = os.path.join(self.directory, fault)
            os.mkdir(job)
            for path in glob.glob(os.path.join(SHARED, fault, "_dump_*")):
                shutil.copy2(path, job)
            alert, = hangs(harness.final(harness.replay(job)).values())
            self.assertEqual(alert["evidence"]["suspects"], truth)


if __name__ == "__main__":
    harness.main()
