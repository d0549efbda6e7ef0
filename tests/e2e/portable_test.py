# SPDX-License-Identifier: Apache-2.0
"""The released program runs where it was not built: it needs the C library alone, and no version of it from the last
years. tests/peers/systems_test.py runs it on other distributions."""

import re
import shutil
import subprocess

import harness

OLDEST_GLIBC = (2, 27)  # packaging/portable/glibc_stubs.py
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments, harness.binary()], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def needed():
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d")))


class PortableTest(harness.unittest.TestCase):
    def test_it_needs_the_c_library_alone(self):
        self.assertLessEqual(needed(), LIBRARIES)
        self.assertNotRegex(readelf("-d"), "RPATH|RUNPATH")

    def test_it_needs_no_new_version_of_it(self):
        versions = set(re.findall(r"Name: (\S+)", readelf("--version-info")))
        self.assertIn("GLIBC_2.2.5", versions)
        for version in versions:
            number = tuple(map(int, re.fullmatch(r"GLIBC_([\d.]+)", version).group(1).split(".")))
            self.assertLessEqual(number, OLDEST_GLIBC)


if __name__ == "__main__":
    if shutil.which("readelf") is None:
        harness.skip("readelf is not installed")
    if "libstdc++.so.6" in needed():
        harness.skip("built for this machine alone (TRAINWATCH_PORTABLE)")
    harness.main()
