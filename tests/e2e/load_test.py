# SPDX-License-Identifier: Apache-2.0
"""A thousand files that grow by 100,000 records a second, 100 subscribers that read, 20 that do not, and a scrape
each second: no record and no alert is lost (catalogue case 77).

TRAINWATCH_LOAD_SECONDS=600 is the whole test; the normal run is some seconds of a tenth of the load. Times in the
files are those of the clock. It prints the delay of an alert, the time from the end of write(2) to recv(2) of a subscriber.
"""

import json
import multiprocessing
import os
import time
import urllib.request

import harness
import live_job
import process_figures
import spiky_job
import stream_clients

SECONDS = float(os.environ.get("TRAINWATCH_LOAD_SECONDS", "5"))
WHOLE = SECONDS >= 60
RECORDS_PER_SECOND = float(os.environ.get("TRAINWATCH_LOAD_RATE", "100000" if WHOLE else "10000"))
NODES, RANKS = 900, 100
TICK_SECONDS = 0.5
LIVE, STALLED = 100, 20
ALERTS_PER_SECOND = 5
LOST_US = 500_000        # by a slow step
WARM_UP_SECONDS = 4      # steps before the first slow one
SETTINGS = [option for option in spiky_job.RULES if option.startswith("--set=")]
SAMPLE = '{"Type":"cpu","Name":"cpu%d","Dimension":"CPUUtilization","Value":%%(v)d.5,"NodeId":"@NODE@",' \
         '"Timestamp":%%(t).1f}\n'


def p99(values):
    return sorted(values)[int(len(values) * 0.99)] if values else float("nan")


def reads_alerts(url, pipe):
    """The process of the live subscribers. Given the last number, it waits for it and says what it has."""
    crowd, last = stream_clients.Crowd(url, LIVE), None
    pipe.send("connected")
    until = None
    while last is None or not (crowd.has_all(last) or time.monotonic() > until):
        crowd.read(0.05)
        if last is None and pipe.poll():
            last, until = pipe.recv(), time.monotonic() + harness.PATIENCE_SECONDS
    crowd.close()
    pipe.send(([each.seqs for each in crowd.subscribers], [each.received for each in crowd.subscribers], crowd.texts))


def stalls_and_scrapes(url, pipe):
    """The process of the subscribers that do not read, and of the scrape each second."""
    stalled, scrapes, failed = stream_clients.StalledCrowd(url, STALLED), [], []
    pipe.send("connected")
    following = time.monotonic()
    while not pipe.poll(max(0, min(0.1, following - time.monotonic()))):
        stalled.look()
        if time.monotonic() < following:
            continue
        following, begun = following + 1, time.monotonic()
        try:
            with urllib.request.urlopen(url + "/metrics", timeout=harness.PATIENCE_SECONDS) as answer:
                size = len(answer.read())
            scrapes.append((time.monotonic() - begun, size))
        except OSError as failure:
            failed.append(str(failure))
    stalled.close()
    pipe.send((stalled.disconnected, scrapes, failed))


class Peer:
    """One of these processes."""

    def __init__(self, work, url):
        self._pipe, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=work, args=(url, other), daemon=True)
        self._process.start()
        self._pipe.recv()

    def finish(self, message):
        self._pipe.send(message)
        result = self._pipe.recv()
        self._process.join()
        return result


class Load:
    """Writes metrics of nodes and timelines of ranks, and slow steps at known times."""

    def __init__(self, directory):
        self.records = self.bytes = 0
        self.slow = {}  # (rank, how many before) -> when its record was written
        self._begin = time.time()
        per_tick = round((RECORDS_PER_SECOND - RANKS * 10 * live_job.Rank.RECORDS_PER_STEP) * TICK_SECONDS / NODES)
        self._block, self._per_tick = "".join(SAMPLE % core for core in range(per_tick)), per_tick
        folder = os.path.join(directory, "system", "incremental", time.strftime("%Y%m%d%H", time.gmtime()))
        os.makedirs(folder)
        self._nodes = [(("node-%d" % number).encode(),
                        self._open(folder, "%d.node-%d.json" % (self._begin // 60 * 60, number)))
                       for number in range(NODES)]
        self._ranks = [live_job.Rank(int(self._begin * 1e6), number) for number in range(RANKS)]
        self._timelines = []
        for number, rank in enumerate(self._ranks):  # each a job of its own
            folder = os.path.join(directory, "job-%d" % number, "framework")
            os.makedirs(folder)
            self._timelines.append(self._open(folder, "%d-rank-%d_pythontimeline.json.tmp" % (number, number)))
            self._write(self._timelines[-1], live_job.header(rank.base_us), live_job.HEADER_RECORDS)
        self._slow_next = self._tick = 0

    def _open(self, folder, name):
        return os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def _write(self, file, data, records):
        assert os.write(file, data) == len(data)
        self.records += records
        self.bytes += len(data)

    def run(self):
        """Slow steps come between the writes of a tick, which are spread over it."""
        while (now := time.time() - self._begin) < SECONDS + WARM_UP_SECONDS:
            self._write_slow_steps()
            due = (self._tick + 1) * TICK_SECONDS
            if now < due:
                time.sleep(min(due - now, 0.02))
                continue
            block = (self._block % {"v": self._tick % 7 + 40, "t": self._begin // 1 + due}).encode()
            for number, (name, file) in enumerate(self._nodes):
                self._write(file, block.replace(b"@NODE@", name), self._per_tick)
                if number % 50 == 0:
                    self._write_slow_steps()
            for number in range(RANKS):
                self._write_steps(number, int((self._begin + due - 0.6) * 1e6))
            self._tick += 1
        self.seconds = time.time() - self._begin

    def _write_steps(self, number, until_us):
        rank = self._ranks[number]
        before = rank.number
        steps = rank.steps_until(until_us)
        if steps:
            self._write(self._timelines[number], steps, (rank.number - before) * rank.RECORDS_PER_STEP)

    def _write_slow_steps(self):
        """Those that are due, behind the steps of the ticks that were written."""
        now = min(time.time() - self._begin, self._tick * TICK_SECONDS + TICK_SECONDS)
        while self._slow_next < (now - WARM_UP_SECONDS) * ALERTS_PER_SECOND:
            number, before = self._slow_next % RANKS, self._slow_next // RANKS
            rank = self._ranks[number]
            self._write(self._timelines[number], rank.next_step(LOST_US), rank.RECORDS_PER_STEP)
            self.slow[number, before] = time.monotonic()
            self._slow_next += 1


def delays_of(slow, seqs, received, texts):
    """Of each alert about a slow step at each subscriber; and how many slow steps got none."""
    written, seen = {}, {}
    for text in texts:
        alert = json.loads(text)
        if alert["rule"] == "getnext_outlier" and alert["id"] not in seen and alert["state"] == "firing":
            rank = alert["subject"]["rank"]
            seen[alert["id"]] = rank
            before = sum(1 for other in seen.values() if other == rank) - 1
            if (rank, before) in slow:
                written[alert["seq"]] = slow[rank, before]
    delays = [at - written[seq] for of_one, times in zip(seqs, received)
              for seq, at in zip(of_one, times) if seq in written]
    return delays, len(slow) - len(written)


class LoadTest(harness.JobTest):
    def slow_calls(self, trainwatch):
        answer = trainwatch.json("/api/v1/alerts?rule=getnext_outlier&parts=1&limit=1000")
        return len({alert["id"] for alert in answer["alerts"]})

    def test_nothing_is_lost(self):
        with harness.Trainwatch(self.directory, *SETTINGS, state=self.state) as trainwatch:
            live, others = Peer(reads_alerts, trainwatch.url), Peer(stalls_and_scrapes, trainwatch.url)
            load, used = Load(self.directory), process_figures.cpu_seconds(trainwatch.pid)
            load.run()
            harness.wait_for(lambda: trainwatch.metric("trainwatch_input_bytes_total") >= load.bytes, "all is read")
            used = process_figures.cpu_seconds(trainwatch.pid) - used
            harness.wait_for(lambda: self.recorded(trainwatch) >= load.records, "all is counted")
            recorded, rejected = self.recorded(trainwatch), trainwatch.metric("trainwatch_records_rejected_total")
            disconnected, scrapes, failed = others.finish("end")
            harness.wait_for(lambda: self.slow_calls(trainwatch) >= len(load.slow), "each slow step has its alert")
            last = trainwatch.json("/api/v1/alerts")["last_seq"]
            seqs, received, texts = live.finish(last)
            resumed = stream_clients.Crowd(trainwatch.url, STALLED)
            harness.wait_for(lambda: resumed.read(0.1) or resumed.has_all(last), "the stalled ones have resumed")
            resumed.close()
            peak = process_figures.peak_resident_mib(trainwatch.pid)
            own = [json.loads(text)["rule"] for text in texts if b'"_self/' in text]
        delays, without = delays_of(load.slow, seqs, received, texts)
        print("%.0f s, %d records (%.1f MB) written: %.0f records/s; %d read, %d rejected" % (
            load.seconds, load.records, load.bytes / 1e6, load.records / load.seconds, recorded, rejected))
        print("CPU: %.2f s per million records, %.0f %% of a core; peak RSS %.0f MiB" % (
            used / load.records * 1e6, 100 * used / load.seconds, peak))
        print("%d alerts to each of %d subscribers; delay p50 %.1f ms, p99 %.1f ms, worst %.1f ms" % (
            last, LIVE, 1e3 * sorted(delays)[len(delays) // 2], 1e3 * p99(delays), 1e3 * max(delays)))
        print("%d stalled ones: disconnected %d times; %d scrapes, p99 %.0f ms, worst %.0f ms, up to %d bytes" % (
            STALLED, disconnected, len(scrapes), 1e3 * p99([took for took, _ in scrapes]),
            1e3 * max(took for took, _ in scrapes), max(size for _, size in scrapes)))
        self.assertEqual(recorded, load.records)
        self.assertEqual((rejected, failed, own, without), (0, [], [], 0))
        for of_one in seqs + [each.seqs for each in resumed.subscribers]:
            self.assertEqual(of_one, list(range(1, last + 1)))

    def recorded(self, trainwatch):
        return trainwatch.metric("trainwatch_events_total") + trainwatch.metric("trainwatch_records_rejected_total")


if __name__ == "__main__":
    harness.main()
