# SPDX-License-Identifier: Apache-2.0
"""How the program is hardened, read from its file (docs/decisions/build.md)."""

import re
import shutil
import subprocess

import harness


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments, harness.binary()], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


class HardeningTest(harness.unittest.TestCase):
    def test_it_lies_anywhere_and_its_tables_are_read_only(self):
        dynamic = readelf("-d")
        self.assertRegex(dynamic, r"FLAGS_1.*\bPIE\b")
        self.assertRegex(dynamic, r"FLAGS_1.*\bNOW\b")
        self.assertIn("GNU_RELRO", readelf("-l"))

    def test_no_memory_is_written_and_run(self):
        loads = re.findall(r"^\s+(LOAD|GNU_STACK)(?:\s+0x\w+){5}\s+([RWE ]+?)\s+0x\w+$", readelf("-l"), re.M)
        self.assertEqual([kind for kind, _ in loads].count("GNU_STACK"), 1)
        self.assertGreater(len(loads), 3)
        for kind, rights in loads:
            self.assertFalse("W" in rights and "E" in rights, (kind, rights))
        # The headers and read-only data are not in the segment with the code.
        self.assertEqual(loads[0], ("LOAD", "R"))

    def test_calls_and_stacks_are_checked(self):
        symbols = readelf("--syms")
        for name in ("__stack_chk_fail", "__memcpy_chk", "__snprintf_chk", "__glibcxx_assert_fail"):
            self.assertIn(name, symbols)


if __name__ == "__main__":
    if shutil.which("readelf") is None:
        harness.skip("readelf is not installed")
    if not readelf("--dyn-syms").count("__stack_chk_fail"):
        harness.skip("compiled without hardening")
    harness.main()
