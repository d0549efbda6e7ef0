"""Case 53: the host's clock jumps by hours and days while a job is read. Alerts come as in a replay, and
none about trainwatch itself. A preloaded library stands for the clock, and a file says how wrong it is."""

import mmap
import os
import shutil
import struct
import subprocess
import tempfile

import harness
import judge
import spiky_job

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static const volatile long* seconds;
static int (*real)(clockid_t, struct timespec*);
__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
  seconds = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
  real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  int done = real(clock, now);
  if (clock == CLOCK_REALTIME && seconds != MAP_FAILED) now->tv_sec += *seconds;
  return done;
}
"""
HOUR, DAY = 3600, 86400


class ClockJumpTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.offset = os.path.join(folder.name, "offset")
        self.library = os.path.join(folder.name, "clock.so")
        source = os.path.join(folder.name, "clock.c")
        with open(source, "w") as file:
            file.write(CLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)
        with open(self.offset, "wb") as file:
            file.write(bytes(8))

    def set_offset(self, seconds):
        with open(self.offset, "r+b") as file, mmap.mmap(file.fileno(), 8) as page:
            page[:] = struct.pack("q", seconds)

    def test_alerts_are_those_of_a_replay(self):
        job = spiky_job.SpikyJob(self.directory, 200, seed=1)
        with harness.Trainwatch(self.directory, *spiky_job.RULES, state=self.state,
                                env={"LD_PRELOAD": self.library, "CLOCK_OFFSET": self.offset}) as trainwatch:
            for jumps, offset in enumerate((HOUR, -HOUR, DAY, -DAY, 0), 1):
                job.write_some(1000)
                self.set_offset(offset)
                harness.wait_for(lambda: trainwatch.metric("trainwatch_clock_jump_total") >= jumps, "the jump")
            job.write_all()
            replayed = harness.replay(self.directory, *spiky_job.RULES)
            client = judge.Client(trainwatch.url)
            client.poll_until_all(replayed)
            self.assertEqual(trainwatch.stop(), 0)
        self.assertFalse([alert for alert in client.alerts if judge.is_about_itself(alert)])
        found = judge.judge(client.alerts, replayed)
        self.assertEqual(set(found.values()), {0}, found)


if __name__ == "__main__":
    if shutil.which("cc") is None:
        harness.skip("there is no C compiler for the false clock")
    harness.main()
