# SPDX-License-Identifier: Apache-2.0
"""Cases of the fault catalogue (tests/README.md) that want a whole daemon: each fault costs what it must and is
counted, and a good job beside it gives the alerts that it gives alone.

TRAINWATCH_LONG=1 reads a bomb of 10 GiB instead of 4 GiB.
"""

import gzip
import json
import os
import re
import shutil

import harness
import judge
import spiky_job

MIB = 1 << 20
START = 1700000000
# Of 64 MiB each. A quick machine has read the first before the status, which is of each second, shows how far it is.
BOMBS = (160 if os.environ.get("TRAINWATCH_LONG") == "1" else 64, 256, 1024)
UTILIZATION = r'^trainwatch_system_utilization_ratio\{.*device="%s".*\} (\S+)$'


def sample(second, **members):
    """A line of system metrics."""
    fields = {"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": 50, "NodeId": "algo-1",
              "Timestamp": START + second}
    return json.dumps({**fields, **members}).encode() + b"\n"


def with_member(line, text):
    """The line with one more member, which need not be valid."""
    return line.replace(b"}\n", b", " + text + b"}\n")


def peak_resident(pid):
    with open("/proc/%d/status" % pid) as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024


def deleted_files(pid):
    folder = "/proc/%d/fd" % pid
    targets = []
    for number in os.listdir(folder):
        try:
            targets.append(os.readlink(os.path.join(folder, number)))
        except FileNotFoundError:
            pass  # closed meanwhile
    return [target for target in targets if target.endswith(".json (deleted)")]


class CatalogueTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        spiky_job.SpikyJob(self.directory, 20, seed=1, ranks=1).write_all()
        self.expected = harness.replay(self.directory, *spiky_job.RULES)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, *lines):
        with open(self.path(name), "wb") as file:
            file.writelines(lines)
        return self.path(name)

    def trainwatch(self, *arguments, prefix=()):
        return harness.Trainwatch(self.directory, *spiky_job.RULES, *arguments, state=self.state, prefix=prefix)

    def file(self, trainwatch, path):
        """What the status says of a file; nothing if it does not know it."""
        return next((file for file in trainwatch.json("/api/v1/status")["files"] if file["path"] == path), None)

    def rejects(self, trainwatch):
        return trainwatch.json("/api/v1/status")["sources"][0]["rejects"]

    def utilization(self, trainwatch, device):
        found = re.search(UTILIZATION % device, trainwatch.get("/metrics"), re.M)
        return found and float(found.group(1))

    def check_good_job(self, trainwatch):
        client = judge.Client(trainwatch.url)
        client.poll_until_all(self.expected)
        found = judge.judge(client.alerts, self.expected)
        self.assertEqual(set(found.values()), {0}, found)

    def check(self, path, records, rejects):
        """`path` has so many good records, and `rejects` are all that is said."""
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(self.file(trainwatch, path)["records"], records)
            self.assertEqual(self.rejects(trainwatch), rejects)
            self.check_good_job(trainwatch)
            self.assertLess(peak_resident(trainwatch.pid), 64 * MIB)

    def test_10_files_that_begin_alike_are_two(self):
        same = b"".join(sample(second) for second in range(20))
        self.assertGreater(len(same), 2048)
        first = self.write("a.json", same, sample(20, Name="cpu1", Value=20))
        second = self.write("b.json", same, sample(20, Name="cpu2", Value=30))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual([self.file(trainwatch, path)["records"] for path in (first, second)], [21, 21])
            self.assertEqual([self.utilization(trainwatch, name) for name in ("cpu1", "cpu2")], [0.2, 0.3])

    def test_14_a_deleted_file_is_read_to_its_end_and_closed(self):
        path = self.write("a.json", sample(0))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            with open(path, "ab") as file:
                os.remove(path)
                file.write(sample(1, Value=20))
            harness.wait_for(lambda: self.utilization(trainwatch, "cpu0") == 0.2, "the end is read")
            harness.wait_for(lambda: not deleted_files(trainwatch.pid), "it is closed")

    def test_20_a_character_that_comes_in_two_pieces(self):
        name = "\u8bad\u7ec3\U0001f680"
        line = sample(1, Name="@", Value=20).replace(b"@", name.encode())
        start = line.index(name.encode())
        path, written = self.write("a.json", sample(0)), 0
        with self.trainwatch() as trainwatch, open(path, "ab", buffering=0) as file:
            for cut in (start + 1, start + 8, len(line)):  # within the first and the last character
                trainwatch.wait_until_read()
                file.write(line[written:cut])
                written = cut
            harness.wait_for(lambda: self.utilization(trainwatch, name) == 0.2, "it is one name")
            self.assertEqual(self.rejects(trainwatch), {})

    def test_21_encodings(self):
        path = self.write("a.json", sample(0), sample(1).replace(b"\n", b"\r\n"),
                          sample(2).replace(b"cpu0", b"\xc0\xaf"), with_member(sample(3), b'"Name": "\\ud800"'),
                          json.dumps({"Type": "cpu"}).encode("utf-16-le") + b"\n", sample(5))
        marked = self.write("b.json", b"\xef\xbb\xbf", sample(6), sample(7))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual([self.file(trainwatch, one)["records"] for one in (path, marked)], [3, 2])
            self.assertEqual([self.file(trainwatch, one)["rejects"] for one in (path, marked)], [3, 1])
            self.assertEqual(self.rejects(trainwatch)["utf8"], 2)
            self.check_good_job(trainwatch)

    def test_21_a_whole_file_in_another_encoding(self):
        text = sample(0).decode()
        encodings = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be")
        paths = [self.write(encoding + ".json", text.encode(encoding)) for encoding in encodings]
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            found = [self.file(trainwatch, path) for path in paths]
            self.assertEqual([file["format"] for file in found], ["utf-16"] * 3 + ["utf-32"] * 2)
            self.assertEqual([file["rejects"] for file in found], [1] * 5)
            self.assertEqual(sum(self.rejects(trainwatch).values()), 5)
            self.check_good_job(trainwatch)

    def test_23_deep_brackets_and_a_small_stack(self):
        path = self.write("a.json", sample(0), b"[" * 100000 + b"\n", with_member(sample(1), b'"x": ' + b"[" * 100000),
                          b'[{"":' * 50000 + b"\n", sample(2))
        with self.trainwatch(prefix=["prlimit", "--stack=%d" % (256 << 10)]) as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(self.file(trainwatch, path)["records"], 2)
            self.assertGreaterEqual(sum(self.rejects(trainwatch).values()), 3)
            self.check_good_job(trainwatch)

    def test_24_many_keys_long_strings_and_long_numbers(self):
        keys = b", ".join(b'"k%d": 1' % number for number in range(20000))
        path = self.write("a.json", sample(0), with_member(sample(1), keys),
                          with_member(sample(2), b'"x": "' + b"y" * 500000 + b'"'), sample(3, Name="n" * 100000),
                          sample(4, Value=0).replace(b'"Value": 0', b'"Value": ' + b"1" * 100000), sample(5))
        self.check(path, 5, {"type": 1})

    def test_25_of_equal_keys_the_last_counts(self):
        self.write("a.json", sample(0), with_member(sample(1, Value=30), b'"Value": 70'))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertAlmostEqual(self.utilization(trainwatch, "cpu0"), 0.7)

    def test_31_several_documents_on_a_line_and_one_on_several(self):
        path = self.write("a.json", sample(0).strip() + sample(1), json.dumps(json.loads(sample(2)), indent=2).encode(),
                          b"\n", sample(3))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual(self.file(trainwatch, path)["records"], 3)
            self.assertEqual(list(self.rejects(trainwatch)), ["syntax"])
            self.check_good_job(trainwatch)

    def test_35_each_byte_of_the_checksum_and_the_size(self):
        packed, paths = gzip.compress(b"".join(sample(second) for second in range(10))), []
        for number in range(1, 9):
            damaged = bytearray(packed)
            damaged[-number] ^= 1
            paths.append(self.write("a%d.json.gz" % number, damaged))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            self.assertEqual([self.file(trainwatch, path)["records"] for path in paths], [10] * 8)
            self.assertEqual(self.rejects(trainwatch)["gzip"], 8)
            self.check_good_job(trainwatch)

    def write_bomb(self, members):
        """Compressed, a good line, one of far too many bytes, and a good line."""
        long = gzip.compress(b"a" * (64 * MIB), 1)
        path = self.path("bomb-%d.json.gz" % members)
        with open(path + ".new", "wb") as file:
            file.write(gzip.compress(sample(0) + b'{"x": "'))
            for _ in range(members):
                file.write(long)
            file.write(gzip.compress(b'"}\n' + sample(1)))
        os.rename(path + ".new", path)
        return path

    def wait_for_another_line(self, trainwatch, path):
        """Appends a line, and waits until it is read."""
        known = self.file(trainwatch, path)["records"]
        with open(path, "ab") as file:
            file.write(sample(known))
        harness.wait_for(lambda: self.file(trainwatch, path)["records"] > known, "the other file is read")

    def lines_beside(self, trainwatch, neighbour, members):
        """How many lines of another file are seen to be read while a bomb is."""
        bomb, beside = self.write_bomb(members), 0
        size = os.path.getsize(bomb)

        def bytes_read():
            found = self.file(trainwatch, bomb)
            return found["offset"] if found else 0
        while bytes_read() < size:
            self.wait_for_another_line(trainwatch, neighbour)
            beside += 0 < bytes_read() < size
        self.assertEqual(self.file(trainwatch, bomb)["records"], 2)
        return beside

    def test_36_a_gzip_bomb(self):
        neighbour = self.write("a.json", sample(0))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            for number, members in enumerate(BOMBS, 1):
                beside = self.lines_beside(trainwatch, neighbour, members)
                self.assertEqual(self.rejects(trainwatch), {"too_long": number})
                if beside:
                    break
            self.check_good_job(trainwatch)
            peak = peak_resident(trainwatch.pid)
        print("%d MiB: peak %d MiB; beside it, the other file was read %d times" % (64 * members, peak // MIB, beside))
        self.assertLess(peak, 64 * MIB)
        self.assertGreater(beside, 0)

    def test_42_a_name_that_is_compressed_from_now_on(self):
        path = self.write("a.json", sample(0), sample(1))
        with self.trainwatch() as trainwatch:
            trainwatch.wait_until_read()
            with open(path + ".new", "wb") as file:
                file.write(gzip.compress(sample(2, Name="cpu1", Value=20)))
            os.rename(path + ".new", path)
            harness.wait_for(lambda: self.utilization(trainwatch, "cpu1") == 0.2, "it is inflated")
            self.write("a.json.new", sample(3, Name="cpu2", Value=30))
            os.rename(self.path("a.json.new"), path)
            harness.wait_for(lambda: self.utilization(trainwatch, "cpu2") == 0.3, "it is read as it is")
            self.assertEqual(self.rejects(trainwatch), {})

    def test_51_permission_that_comes_later(self):
        if os.geteuid() != 0:
            self.skipTest("only root may become another user")
        path = self.write("a.json", sample(0))
        os.chmod(path, 0)
        os.chmod(os.path.dirname(self.directory), 0o755)
        os.mkdir(self.state)
        shutil.chown(self.state, "nobody")
        with self.trainwatch("--process.user=nobody") as trainwatch:
            harness.wait_for(lambda: trainwatch.metric("trainwatch_read_errors_total"), "it is counted")
            harness.wait_for(lambda: trainwatch.json("/api/v1/status")["sources"][0]["conditions"] == ["unreadable"],
                             "it is said")
            self.check_good_job(trainwatch)
            os.chmod(path, 0o644)
            harness.wait_for(lambda: self.file(trainwatch, path)["records"] == 1, "it is tried again")

    def check_cardinality(self, lines, limit, value, name):
        self.write("a.json", *lines)
        config = os.path.join(os.path.dirname(self.directory), "trainwatch.yaml")
        with open(config, "w") as file:
            file.write("input: {%s: %d}\n" % (limit, value))
        with self.trainwatch("--config.file=" + config) as trainwatch:
            trainwatch.wait_until_read()
            rejected = self.rejects(trainwatch)["cardinality"]
            self.assertGreaterEqual(rejected, len(lines) - value)
            self.assertLess(rejected, len(lines))
            self.assertIn('trainwatch_limit_hits_total{name="%s"} %d\n' % (name, rejected), trainwatch.get("/metrics"))
            self.assertLess(len(trainwatch.get("/metrics")), MIB)
            self.assertLess(peak_resident(trainwatch.pid), 256 * MIB)
            self.check_good_job(trainwatch)

    def test_65_more_names_than_there_is_room_for(self):
        self.check_cardinality([sample(number // 1000, Name="cpu%d" % number) for number in range(50000)],
                               "max_series", 20000, "series")

    def test_66_more_nodes_than_there_is_room_for(self):
        self.check_cardinality([sample(number // 1000, NodeId="node-%d" % number) for number in range(50000)],
                               "max_subjects", 5000, "subjects")


if __name__ == "__main__":
    harness.main()
