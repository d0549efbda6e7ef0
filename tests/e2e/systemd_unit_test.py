# SPDX-License-Identifier: Apache-2.0
"""The unit file as systemd itself judges it: no mistakes, and an exposure of at most 2.0 of 10."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
EXPOSURE_LIMIT = 20  # tenths


def analyze(*arguments):
    done = subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main(binary):
    if shutil.which("systemd-analyze") is None:
        print("skipped: systemd-analyze is not installed")
        return SKIP
    unit = pathlib.Path(os.environ["TRAINWATCH_SOURCE_DIR"]) / "systemd/trainwatch.service"
    code, report = analyze("security", "--offline=yes", f"--threshold={EXPOSURE_LIMIT}", str(unit))
    verdict = re.search(r"Overall exposure level.*", report)
    print(verdict.group(0) if verdict else report)
    assert code == 0, "exposed more than allowed"

    with tempfile.TemporaryDirectory() as directory:  # verify wants the program to exist
        copy = pathlib.Path(directory) / unit.name
        copy.write_text(unit.read_text().replace("/usr/bin/trainwatch", binary))
        code, report = analyze("verify", "--man=no", str(copy))  # the manual is in the package
    mistakes = [line for line in report.splitlines() if "trainwatch.service" in line]
    assert code == 0 and not mistakes, report
    print("systemd-analyze verify: clean")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
