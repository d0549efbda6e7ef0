# SPDX-License-Identifier: Apache-2.0
"""A large tensor through the whole program: it is streamed, never held."""

import struct

import harness
import process_figures
from trial_writer import TrialWriter

MIB = 1 << 20
TENSOR_MIB = 128  # one of 1 GiB takes the same
MOST_MIB = 64


class LargeTensorTest(harness.JobTest):
    def test_it_takes_little_memory(self):
        block = struct.pack("<f", 0.25) * (MIB // 4)
        last = block[:-4] + struct.pack("<f", float("inf"))
        content = b"".join([block] * (TENSOR_MIB - 1) + [last])
        TrialWriter(self.directory).save(0, {"weights": ("float32", [len(content) // 4], content)})
        with harness.Trainwatch(self.directory) as trainwatch:
            harness.wait_for(lambda: any(alert["rule"] == "exploding_tensor" for alert in trainwatch.json("/api/v1/alerts")["alerts"]),
                             "it is read to its last element")
            self.assertLess(process_figures.peak_resident_mib(trainwatch.pid), MOST_MIB)


if __name__ == "__main__":
    harness.main()
