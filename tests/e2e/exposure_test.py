# SPDX-License-Identifier: Apache-2.0
"""What others get to see: beyond loopback nothing without a flag, and never the bytes of a record that was rejected
unless a flag says so (catalogue case 81)."""

import os
import unittest
import urllib.error
import urllib.request

import harness

BAD_CONFIGURATION = 78


class ExposureTest(harness.JobTest):
    def run_at(self, *arguments):
        return harness.run("run", "--watch=" + self.directory, "--storage.path=" + self.state, *arguments)

    def test_other_hosts_are_not_served_without_the_flag(self):
        for address in ("0.0.0.0:0", ":0", "[::]:0"):
            done = self.run_at("--web.listen-address=" + address)
            self.assertEqual(done.returncode, BAD_CONFIGURATION, done.stderr)
            self.assertIn("--web.insecure", done.stderr)
        config = os.path.join(self.directory, "trainwatch.yaml")
        with open(config, "w") as file:
            file.write('web: {listen_address: "0.0.0.0:0"}\n')
        self.assertEqual(harness.run("check-config", config).returncode, BAD_CONFIGURATION)

    def test_with_the_flag_names_are_not_served(self):
        with harness.Trainwatch(self.directory, "--web.listen-address=0.0.0.0:0", "--web.insecure") as trainwatch:
            for host, status in (("192.0.2.1", 200), ("localhost", 200), ("evil.example", 403)):
                request = urllib.request.Request(trainwatch.url + "/-/healthy", headers={"Host": host})
                try:
                    self.assertEqual(urllib.request.urlopen(request, timeout=harness.PATIENCE_SECONDS).status, status)
                except urllib.error.HTTPError as refused:
                    self.assertEqual(refused.code, status, host)

    def test_rejected_bytes_are_shown_only_on_request(self):
        with open(os.path.join(self.directory, "1700000000.algo-1.json"), "w") as file:
            file.write('{"Type":"cpu","Name":"CPUUtilization","Dimension":"cpu0","Value":1,"NodeId":"algo-1",'
                       '"Timestamp":1700000000.5}\n{"secret": nothing}\n')
        for arguments, shown in (((), False), (("--web.debug",), True), (("--web.debug=false",), False)):
            with harness.Trainwatch(self.directory, *arguments) as trainwatch:
                trainwatch.wait_until_read()
                harness.wait_for(lambda: trainwatch.metric("trainwatch_records_rejected_total"), "a reject")
                status = trainwatch.json("/api/v1/status")
                self.assertEqual("rejected_samples" in status, shown, arguments)
                self.assertEqual("secret" in str(status), shown, arguments)


if __name__ == "__main__":
    harness.main()
