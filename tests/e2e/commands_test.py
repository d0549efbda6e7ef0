# SPDX-License-Identifier: Apache-2.0
"""The commands as a script sees them: exit codes, what goes to which output, help."""

import json
import os
import re
import tempfile
import unittest

import harness


class CommandsTest(unittest.TestCase):
    def expect(self, code, *arguments, **options):
        done = harness.run(*arguments, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done

    def test_help_and_version(self):
        commands = self.expect(0, "--help").stdout
        for command in ("run", "replay", "analyze", "report", "timeline", "formats", "follow", "rules", "check-config", "version", "sample"):
            self.assertIn(command, commands)
            self.assertIn("--help", self.expect(0, command, "--help").stdout)
        self.assertRegex(self.expect(0, "version").stdout, r"trainwatch.*\d+\.\d+\.\d+")

    def test_wrong_usage_is_2(self):
        for arguments in ([], ["nonsense"], ["run", "--nonsense"], ["run"], ["replay"], ["report", harness.JOB],
                          ["sample"],
                          ["replay", harness.JOB, "--rules=nonsense"],
                          ["replay", harness.JOB, "--set", "step_spike.nonsense=1"],
                          ["replay", harness.JOB, "--fail-on=nonsense"],
                          ["rules", "--format=nonsense"]):
            with self.subTest(arguments=arguments):
                done = self.expect(2, *arguments)
                self.assertTrue(done.stderr)

    def test_exit_codes_are_documented(self):
        with open(os.path.join(harness.ROOT, "daemon", "exit_code.h")) as header:
            codes = re.findall(r"constexpr int \w+ = (\d+);", header.read())
        self.assertEqual(len(codes), 6)
        with open(os.path.join(harness.ROOT, "docs", "commands.md")) as document:
            listed = re.search(r"\*\*Exit codes\*\*[^:]*: (.*?)\n\n", document.read(), re.DOTALL).group(1)
        said = re.search(r"Exit codes: (.*?)\.\s", self.expect(0, "--help").stdout, re.DOTALL).group(1)
        for text in (listed, said):
            self.assertEqual(re.findall(r"\b\d+\b", text), codes)

    def test_a_missing_path_is_a_failure(self):
        done = self.expect(1, "replay", "/does/not/exist")
        self.assertIn("/does/not/exist", done.stderr)

    def test_check_config(self):
        self.expect(0, "check-config", os.path.join(harness.ROOT, "config", "trainwatch.yaml"))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("rules:\n  getnext_outlier:\n    factor: -3\n")
            file.flush()
            done = self.expect(78, "check-config", file.name)
            self.assertIn(file.name + ":3", done.stderr)
            self.assertIn("factor", done.stderr)
            self.expect(78, "run", "--watch=/tmp", "--config.file=" + file.name)
            self.expect(78, "replay", harness.JOB, "--config.file=" + file.name)

    def test_rules(self):
        rules = json.loads(self.expect(0, "rules", "--format=json").stdout)
        text = json.dumps(rules)
        for rule in ("step_spike", "cpu_bottleneck", "getnext_outlier", "low_gpu_utilization"):
            self.assertIn('"%s"' % rule, text)

    def test_replay_prints_json_lines_and_nothing_else(self):
        done = self.expect(0, "replay", harness.JOB)
        for line in done.stdout.splitlines():
            alert = json.loads(line)
            self.assertNotIn("seq", alert)
            self.assertNotIn("epoch", alert)
            self.assertRegex(alert["id"], r"^[0-9a-f]+$")

    def test_flags_have_environment_variables(self):
        env = dict(os.environ, TRAINWATCH_RULES="cpu_bottleneck")
        done = self.expect(0, "replay", harness.JOB, env=env)
        self.assertEqual(done.stdout, "")

    def test_replay_of_rubbish_ends_well(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, content in (("empty.json", b""), ("zeros.json", b"\0" * 5000),
                                  ("text.json", b"not json at all\n" * 100),
                                  ("cut.json.gz", b"\x1f\x8b\x08\x00\x00"),
                                  ("open.json", b'[{"ph": "X", "na')):
                with open(os.path.join(directory, name), "wb") as file:
                    file.write(content)
            done = self.expect(1, "replay", directory)
            self.assertIn("nothing could be read", done.stderr)

    def test_sample_writes_what_replay_reads(self):
        with tempfile.TemporaryDirectory() as directory:
            self.expect(0, "sample", "--out=" + directory, "--interval=50ms", "--duration=500ms",
                        "--node=here")
            lines = []
            for folder, _, names in os.walk(directory):
                for name in names:
                    self.assertRegex(name, r"^\d{10}\.here\.json$")
                    with open(os.path.join(folder, name)) as file:
                        lines += [json.loads(line) for line in file]
            self.assertIn("CPUUtilization", {line["Dimension"] for line in lines})
            self.expect(0, "replay", directory)


if __name__ == "__main__":
    harness.main()
