# SPDX-License-Identifier: Apache-2.0
"""Tensors that SageMaker Debugger saved: values, .npy files, pictures and reductions, by command and over HTTP, and live."""

import ast
import json
import math
import os
import struct
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request
import zlib

import certificates
import harness
from harness import Listener, Trainwatch, wait_for
from trial_writer import TrialWriter

MATRIX = ("float32", [2, 3], struct.pack("<6f", 1.5, -2, 0.25, 4, -0.5, float("nan")))
# type -> (numpy's description, bytes in the file; None: those that were saved)
STORED = {
    "float32": ("<f4", struct.pack("<3f", 1.5, -math.inf, 1e-42), None),
    "float64": ("<f8", struct.pack("<3d", 0.1, -1e300, 5e-324), None),
    "float16": ("<f2", struct.pack("<3e", 1.5, -65504, 6e-8), None),
    "bfloat16": ("<f4", struct.pack("<3H", 0x3f80, 0xc000, 0x0001), struct.pack("<3I", 0x3f800000, 0xc0000000, 0x00010000)),
    "complex64": ("<c8", struct.pack("<6f", 1, -2, 3, 4, 0.1, 0), None),
    "complex128": ("<c16", struct.pack("<6d", 1, -2, 3, 4, 0.1, 0), None),
    "bool": ("|b1", b"\x01\x00\x01", None),
    "int8": ("|i1", struct.pack("<3b", -128, 127, 0), None),
    "int16": ("<i2", struct.pack("<3h", -32768, 32767, 1), None),
    "int32": ("<i4", struct.pack("<3i", -2**31, 2**31 - 1, 1), None),
    "int64": ("<i8", struct.pack("<3q", -2**63, 2**63 - 1, 1), None),
    "uint8": ("|u1", b"\x00\xff\x07", None),
    "uint16": ("<u2", struct.pack("<3H", 0, 65535, 1), None),
    "uint32": ("<u4", struct.pack("<3I", 0, 2**32 - 1, 1), None),
    "uint64": ("<u8", struct.pack("<3Q", 0, 2**64 - 1, 1), None),
    "string": ("<U2", [b"a", "\u00e9z".encode(), "\U0001f600".encode()], "a\0\u00e9z\U0001f600\0".encode("utf-32-le")),
}


def read_npy(data):
    """The header and the elements of a file of numpy's format 1.0."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:16]
    size, = struct.unpack_from("<H", data, 8)
    assert (10 + size) % 64 == 0
    return ast.literal_eval(data[10:10 + size].decode("latin-1")), data[10 + size:]


def read_png(data):
    """Width, height, and rows of RGB, of a picture with a palette and no filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        chunks[data[at + 4:at + 8]] = data[at + 8:at + 8 + size]
        assert zlib.crc32(data[at + 4:at + 8 + size]) == struct.unpack_from(">I", data, at + 8 + size)[0]
        at += 12 + size
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    rows, palette = zlib.decompress(chunks[b"IDAT"]), chunks[b"PLTE"]
    lines = [rows[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(line[0] == 0 for line in lines)
    return width, height, [[tuple(palette[3 * i:3 * i + 3]) for i in line[1:]] for line in lines]


class CommandTest(harness.JobTest):
    def tensors(self, *options, check=True):
        done = subprocess.run([harness.binary(), "tensors", self.directory, *options], capture_output=True, timeout=harness.PATIENCE_SECONDS)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def lines(self, *options):
        return [json.loads(line) for line in self.tensors(*options).stdout.splitlines()]

    def test_every_type_as_npy(self):
        TrialWriter(self.directory).save(0, {name: (name, [3, 1], content) for name, (_, content, _) in STORED.items()})
        for name, (description, content, expected) in STORED.items():
            with self.subTest(name):
                header, elements = read_npy(self.tensors("--format=npy", "--regex=^%s$" % name).stdout)
                self.assertEqual(header, {"descr": description, "fortran_order": False, "shape": (3, 1)})
                self.assertEqual(elements, content if expected is None else expected)

    def test_numpy_reads_them(self):
        try:
            import io
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        TrialWriter(self.directory).save(0, {name: (name, [3], content) for name, (_, content, _) in STORED.items()})
        for name, (description, content, expected) in STORED.items():
            with self.subTest(name):
                array = numpy.load(io.BytesIO(self.tensors("--format=npy", "--regex=^%s$" % name).stdout))
                self.assertEqual((array.dtype.str, array.shape), (description, (3,)))
                self.assertEqual(array.tobytes(), content if expected is None else expected)

    def test_a_picture(self):
        TrialWriter(self.directory).save(7, {"w": MATRIX})
        width, height, rows = read_png(self.tensors("--format=png", "--step=7", "--mode=TRAIN").stdout)
        self.assertEqual((width, height), (3, 2))
        self.assertEqual((rows[0][1], rows[1][0], rows[1][2]), ((0, 0, 0), (255, 255, 255), (255, 0, 0)))
        red, green, blue = rows[0][0]
        self.assertTrue(red == green == blue and abs(red - 255 * 3.5 / 6) <= 1.5, red)
        width, height, _ = read_png(self.tensors("--format=png", "--slice=1,:2").stdout)
        self.assertEqual((width, height), (2, 1))

    def test_reductions(self):
        writer = TrialWriter(self.directory)
        writer.save(0, {"w": ("float64", [2, 2], struct.pack("<4d", 3, 0, 4, 5)), "cube": ("uint8", [1, 1, 2], b"\x01\x02"),
                        "smdebug/reductions/mean/w": ("float32", [1], struct.pack("<f", 42))})
        cube, w = self.lines("--reduction=l2")
        self.assertAlmostEqual(w["value"], math.sqrt(45), places=13)
        self.assertTrue(w["computed"])
        self.assertIsNone(cube["value"])
        self.assertIn("3 dimensions", cube["error"])
        w, = self.lines("--reduction=mean", "--regex=^w$")
        self.assertEqual((w["value"], w["computed"]), (42, False), "as it was saved")
        w, = self.lines("--reduction=abs_max", "--regex=^w$", "--worker=worker_0")
        self.assertEqual((w["name"], w["step"], w["reduction"], w["value"]), ("w", 0, "abs_max", 5))

    def test_what_is_refused(self):
        TrialWriter(self.directory).save(0, {"w": MATRIX, "v": MATRIX})
        for options, words in ((["--format=npy", "--step=0"], b"2 tensors"), (["--format=npy", "--regex=x"], b"0 tensors"),
                               (["--reduction=median"], b"median"), (["--format=csv"], b"csv"),
                               (["--reduction=min", "--format=png"], b"--reduction")):
            with self.subTest(options):
                done = self.tensors(*options, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(words, done.stderr)
        self.assertEqual(self.tensors("--slice=9", "--regex=w", check=False).returncode, 1)

    def test_a_pattern_of_pythons_is_reported(self):
        TrialWriter(self.directory, collections={"odd": ([], ["w(?!x)"])}).save(0, {"w": MATRIX})
        done = self.tensors()
        self.assertIn(b"the include_regex 'w(?!x)' of collection 'odd' matches nothing", done.stderr)
        self.assertEqual(json.loads(done.stdout)["collections"], {"odd": []})


class ApiTest(harness.JobTest):
    def value(self, trainwatch, **query):
        return trainwatch.json("/api/v1/tensors/value?" + urllib.parse.urlencode(query))

    def raw(self, trainwatch, **query):
        with urllib.request.urlopen(trainwatch.url + "/api/v1/tensors/value?" + urllib.parse.urlencode(query), timeout=harness.PATIENCE_SECONDS) as answer:
            return answer.headers["Content-Type"], answer.read()

    def refusal(self, trainwatch, **query):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.value(trainwatch, **query)
        return json.loads(refused.exception.read())

    def test_what_the_command_prints_over_http(self):
        path = os.path.join(self.directory, "job", "debug-output")
        writer = TrialWriter(path, workers=2, collections={"weights": (["w"], ["^l"])})
        for step in range(3):
            for worker in ("worker_0", "worker_1"):
                writer.save(step, {"w": MATRIX, "loss": ("float32", [1], struct.pack("<f", 1 / (step + 1)))}, worker=worker)
        printed, = [json.loads(line) for line in harness.run("tensors", self.directory).stdout.splitlines()]
        with Trainwatch(self.directory) as trainwatch:
            trial, = trainwatch.json("/api/v1/tensors")["trials"]
            self.assertEqual(trial["trial"], "job/debug-output")
            self.assertEqual({name: trial[name] for name in printed}, printed)
            self.assertEqual(trial["collections"], {"weights": ["loss", "w"]})
            at_1, = trainwatch.json("/api/v1/tensors?step=1&mode=TRAIN&regex=w")["trials"]
            self.assertEqual((at_1["state"], [t["worker"] for t in at_1["tensors"]], at_1["tensors"][0]["shape"]),
                             ("available", ["worker_0", "worker_1"], [2, 3]))
            found = self.value(trainwatch, name="w", step=1, worker="worker_1")
            line = json.loads(harness.run("tensors", self.directory, "--regex=w", "--step=1", "--worker=worker_1").stdout)
            self.assertEqual(found, line)
            self.assertEqual(found["values"], [1.5, -2, 0.25, 4, -0.5, "nan"])
            self.assertEqual(self.value(trainwatch, name="loss", step=1, reduction="abs_mean")["value"], 0.5)
            kind, npy = self.raw(trainwatch, name="w", step=0, format="npy", slice=":,0")
            self.assertEqual((kind, read_npy(npy)), ("application/octet-stream", (
                {"descr": "<f4", "fortran_order": False, "shape": (2,)}, struct.pack("<2f", 1.5, 4))))
            kind, png = self.raw(trainwatch, name="w", step=0, format="png")
            self.assertEqual((kind, read_png(png)[:2]), ("image/png", (3, 2)))
            self.assertEqual(self.refusal(trainwatch, name="w", step=3)["state"], "not_yet_available")
            self.assertEqual(self.refusal(trainwatch, name="x", step=0)["status"], 404)
            self.assertEqual(self.refusal(trainwatch, name="w", step=0, trial="../etc")["status"], 404)
            self.assertEqual(self.refusal(trainwatch, name="w", step=0, slice="x")["status"], 400)
            self.assertEqual(self.refusal(trainwatch, step=0)["status"], 400)

    def test_a_tensor_beyond_the_limit(self):
        TrialWriter(self.directory).save(0, {"w": ("uint8", [6 << 20, 1], bytes(6 << 20))})
        with Trainwatch(self.directory) as trainwatch:
            self.assertEqual(self.refusal(trainwatch, name="w", step=0)["status"], 413)
            self.assertEqual(len(self.raw(trainwatch, name="w", step=0, format="npy")[1]), (6 << 20) + 128)

    def test_a_notebook_waits_for_steps_and_draws_new_tensors(self):
        """The two calls of SageMaker's notebook: trial.wait_for_steps(), and the new values of each step."""
        with Trainwatch(self.directory) as trainwatch, Listener(trainwatch.stream, "?streams=tensors") as listener:
            news = lambda: [trial for frame in listener.frames if frame["op"] == "tensor"  # noqa: E731
                            for trial in frame["trials"]]
            steps = lambda: [step for trial in news() for step in trial["steps"]]  # noqa: E731
            writer = TrialWriter(os.path.join(self.directory, "live"), workers=2)
            drawn = []
            for step in range(3):
                for worker in ("worker_0", "worker_1"):
                    writer.save(step, {"w": ("float32", [2, 2], struct.pack("<4f", *[step] * 4))}, worker=worker)
                wait_for(lambda: [s["step"] for s in steps()] == list(range(step + 1)), "step %d is complete" % step)
                name, = steps()[-1]["names"]
                drawn.append(self.value(trainwatch, trial=news()[-1]["trial"], name=name, step=step)["values"][0])
            self.assertEqual(drawn, [0, 1, 2])
            writer.save(3, {"w": MATRIX})  # only one worker
            writer.end()
            wait_for(lambda: news()[-1]["loaded_all_steps"], "the trial has ended")
            self.assertEqual([(step["step"], step["mode"], step["names"]) for step in steps()],
                             [(step, "TRAIN", ["w"]) for step in range(4)])

    def test_a_login_is_needed_where_there_is_one(self):
        TrialWriter(self.directory).save(0, {"w": MATRIX})
        config = self.state + ".yml"
        with open(config, "w") as file:
            file.write("basic_auth_users: {alice: %s}\n" % certificates.SECRET)
        with Trainwatch(self.directory, "--web.config.file=" + config, login="alice:secret") as trainwatch:
            self.assertEqual(self.value(trainwatch, name="w", step=0)["shape"], [2, 3])
            for path in ("/api/v1/tensors", "/api/v1/tensors/value?name=w&step=0"):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    harness.fetch(trainwatch.url + path)
                self.assertEqual(refused.exception.code, 401)


if __name__ == "__main__":
    harness.main()
