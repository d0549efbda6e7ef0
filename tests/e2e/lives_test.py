# SPDX-License-Identifier: Apache-2.0
"""The account of a job's wall time: lives with known parts (tests/bench/lives), as `trainwatch runs` prints them. The first fifteen
tests are the faults that the account had before there was one ledger, by their numbers in docs/decisions/ledger.md."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import harness

LIVES = os.path.join(harness.ROOT, "tests", "bench", "lives", "lives.py")
ENDS = ("completed cuda_out_of_memory host_out_of_memory time_limit cancelled interrupted preempted node_failure gpu_error "
        "collective_timeout worker_killed disk_full exception signal exit_code").split()


class LivesTest(unittest.TestCase):
    def right(self, *kinds, seeds="0..3", writers=None, surfaces=False):
        """Every field of every life is right: state, end, attempts, each part of the wall time, steps, rate, GPU time."""
        command = [sys.executable, LIVES, "check", "--trainwatch=" + harness.binary(), "--kinds=" + ",".join(kinds), "--seeds=" + seeds]
        done = subprocess.run(command + (["--writers=" + writers] if writers else []) + (["--surfaces"] if surfaces else []) +
                              ["--verbose"], stdout=subprocess.PIPE, text=True)
        found = re.search(r"^all +(\d+)/(\d+) +lives", done.stdout, re.M)
        self.assertTrue(found, done.stdout)
        self.assertGreater(int(found[2]), 0, "no such life")
        self.assertEqual(found[1], found[2], done.stdout)

    def test_l1_ranks_in_lock_step_lose_together(self):
        self.right("wait_one", "wait_turns", "wait_all", "wait_hidden", writers="hook")

    def test_l2_a_wait_is_lost_once(self):
        self.right("slow_half", writers="hook")

    def test_l3_l10_l15_every_surface_has_the_same_numbers(self):
        """`runs`, and of a daemon as soon as it is ready the API, /metrics and the report: what was lost to the last step, a hang up
        to the clock, files of two months ago that are finished."""
        self.right("slow_half", "hang_goes_on", "old_2_months", "attempts", "end_signal", seeds="1", writers="hook", surfaces=True)

    def test_l4_a_hang_is_in_the_account_of_all_ranks(self):
        self.right("hang_goes_on", "hang_killed", "hang_open", writers="hook")

    def test_l5_down_time_and_steps_done_again(self):
        self.right("elastic", writers="hook")

    def test_l6_a_killed_job_has_not_finished(self):
        self.right(*("end_" + end for end in ENDS), seeds="2")

    def test_l7_two_jobs_are_two_runs(self):
        self.right("two_roots", "two_below_root", "two_in_directory", "two_hooks_in_directory", seeds="1")

    def test_l8_two_roles_are_no_attempts(self):
        self.right("roles")

    def test_l9_records_without_times(self):
        self.right("untimed", seeds="1")

    def test_l11_last_year_is_past(self):
        self.right("old_2_months", "old_1_year", writers="hook")

    def test_l12_an_incident_has_one_id(self):
        """Whoever could speak for it: ranks that waited, the one that they waited for, the step, the call, the stall."""
        for kind in ("blip_wait", "blip_pause"):
            for seed in range(6):
                with self.subTest(kind=kind, seed=seed), tempfile.TemporaryDirectory() as life:
                    subprocess.run([sys.executable, LIVES, "make", kind, str(seed), life], check=True, stdout=subprocess.DEVNULL)
                    watched = os.path.join(life, "watch")
                    said = harness.replay("--format=json", watched)
                    self.assertEqual([alert["state"] for alert in said], ["firing", "resolved"], said)
                    self.assertEqual(len({alert["id"] for alert in said}), 1)

    def test_l12_live(self):
        with tempfile.TemporaryDirectory() as life:
            subprocess.run([sys.executable, LIVES, "make", "blip_wait", "1", life], check=True, stdout=subprocess.DEVNULL)
            target = os.path.join(life, "played")
            os.mkdir(target)
            with harness.Trainwatch(target) as trainwatch, harness.Listener(trainwatch.stream) as listener:
                harness.play.play(os.path.join(life, "watch"), target, speed=40)
                harness.wait_for(lambda: any(alert["state"] == "resolved" for alert in listener.alerts()), "the alert is over")
            self.assertEqual(len({alert["id"] for alert in listener.alerts()}), 1, listener.alerts())

    def test_l13_a_straggler_from_the_first_step_on(self):
        self.right("straggler_start", writers="hook")

    def test_l14_a_curriculum_loses_nothing(self):
        self.right("curriculum", seeds="1")

    def test_pauses_keep_their_names(self):
        self.right("checkpoint_marked", "checkpoint_one_rank", "checkpoint_file", "evaluation_marked", "gc_pauses", "warm_up",
                   writers="hook")

    def test_what_is_nature_is_not_lost(self):
        self.right("steady", "noisy", "wait_small", "alternating", "skewed", writers="hook")

    def test_what_other_nodes_do(self):
        self.right("elsewhere", writers="hook")


if __name__ == "__main__":
    harness.main()
