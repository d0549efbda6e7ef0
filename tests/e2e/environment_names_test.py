# SPDX-License-Identifier: Apache-2.0
"""Names that schedulers put into the environment, for jobs whose files name less than all."""

import os
import shutil

import harness

SLURM = {"SLURM_JOB_NAME": "bert", "SLURM_JOB_ID": "4711", "SLURMD_NODENAME": "gpu01"}
ONE_RANK = dict(SLURM, RANK="3", LOCAL_WORLD_SIZE="1")
EIGHT_RANKS = dict(SLURM, RANK="3", LOCAL_WORLD_SIZE="8")
NAMELESS = "pythontimeline.json"


class EnvironmentNamesTest(harness.JobTest):
    def copy(self, name, rename=None):
        """The recorded timelines below `name`; `rename` is what one file is called instead of after rank and node."""
        for folder, _, files in os.walk(os.path.join(harness.JOB, "framework")):
            for file in files:
                target = os.path.join(self.directory, name, os.path.relpath(folder, harness.JOB))
                os.makedirs(target, exist_ok=True)
                shutil.copy(os.path.join(folder, file), os.path.join(target, rename or file))

    def subjects(self, env, *arguments):
        with harness.Trainwatch(self.directory, *arguments, env=env) as trainwatch:
            trainwatch.wait_until_read()
            alerts = harness.wait_for(lambda: trainwatch.json("/api/v1/alerts?after=0")["alerts"], "alerts")
        return [alert["subject"] for alert in alerts]

    def test_what_files_say_wins(self):
        self.copy("")
        plain = self.subjects({"TRAINWATCH_INPUT_ENVIRONMENT_NAMES": "false", **ONE_RANK})
        self.assertNotIn("job", plain[0])
        for env in (ONE_RANK, EIGHT_RANKS):
            named = self.subjects(env)
            self.assertEqual({subject.pop("job") for subject in named}, {"bert/4711"})
            self.assertEqual(named[0], plain[0])
            replayed = harness.replay(self.directory, env=dict(os.environ, **env))
            self.assertEqual({alert["subject"]["job"] for alert in replayed}, {"bert/4711"})

    def test_the_rank_of_a_file_that_names_none(self):
        self.copy("fold-2", NAMELESS)
        for env, rank in ((ONE_RANK, 3), (EIGHT_RANKS, None)):
            for subject in self.subjects(env):
                self.assertEqual(subject["job"], "bert/4711/fold-2")
                self.assertEqual(subject["node"], "gpu01")
                self.assertEqual(subject.get("rank"), rank)


if __name__ == "__main__":
    harness.main()
