# SPDX-License-Identifier: Apache-2.0
"""The container image: built by buildah from packaging/Containerfile, small, and run as Kubernetes would: a user that is
not root, a root file system that is read-only, the job's files too. With TRAINWATCH_LONG=1 the image is built from
the sources, on a Debian 12 made by mmdebstrap."""

import json
import os
import shutil
import subprocess
import tempfile

import harness
import systems

LONG = os.environ.get("TRAINWATCH_LONG") == "1"
MOST_BYTES = 30_000_000
USER = 65532

# Mounts as a runtime makes them, then the entry point of the image without the program that harness.py names.
RUN = r"""set -e
root=$1 job=$2 state=$3
shift 4
mkdir -p "$root/proc" "$root$job" "$root$state"
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --bind "$job" "$root$job"
mount --bind "$state" "$root$state"
mount -o remount,bind,ro "$root"
mount -o remount,bind,ro "$root$job"
exec setpriv --no-new-privs chroot --userspec=%d:%d --groups= "$root" /usr/bin/trainwatch "$@"
""" % (USER, USER)


def command(*arguments, cwd=harness.ROOT):
    done = subprocess.run(arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError("%s failed: %s%s" % (" ".join(arguments[:8]), done.stdout[-2000:], done.stderr[-4000:]))
    return done.stdout


class ContainerTest(harness.JobTest):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = scratch.name
        cls.store = ["buildah", "--root", cls.scratch + "/store", "--runroot", cls.scratch + "/run",
                     "--storage-driver", "vfs"]
        cls.build()
        cls.container = cls.buildah("from", "--pull-never", "localhost/trainwatch")
        cls.addClassCleanup(cls.buildah, "umount", cls.container)
        cls.root = cls.buildah("mount", cls.container)
        cls.image = json.loads(cls.buildah("inspect", "--type=image", "localhost/trainwatch"))["OCIv1"]

    @classmethod
    def buildah(cls, *arguments, cwd=harness.ROOT):
        return command(*cls.store, *arguments, cwd=cwd).strip()

    @classmethod
    def build(cls):
        """A context of its own, as the source tree is not for tests to write to."""
        context = os.path.join(cls.scratch, "context")
        how = ["build", "--isolation=chroot", "-f", "packaging/Containerfile", "-t", "localhost/trainwatch",
               "--build-arg=VERSION=test"]
        if LONG:
            base = os.path.join(cls.scratch, "base.tar")
            command("mmdebstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", base)
            empty = cls.buildah("from", "scratch")
            cls.buildah("add", empty, base, "/")
            cls.buildah("commit", empty, "localhost/debian12")
            systems.copy_sources(context)
            # This machine's authorities, as its registries may be mirrors.
            cache = os.environ.get("TRAINWATCH_CCACHE")  # a folder of ccache's, to save most of the time
            how += ["--volume=%s:/root/.cache/ccache" % cache] if cache else []
            return cls.buildah(*how, "--volume=/etc/ssl/certs:/etc/ssl/certs:ro", "--pull-never",
                               "--build-arg=BASE=localhost/debian12", ".", cwd=context)
        shutil.copytree(os.path.join(harness.ROOT, "packaging"), os.path.join(context, "packaging"))
        shutil.copy(os.path.join(harness.ROOT, ".containerignore"), context)
        command("packaging/rootfs.sh", os.path.abspath(harness.binary()), os.path.join(context, "dist", "rootfs"))
        return cls.buildah(*how, "--target=prebuilt", ".", cwd=context)

    def run_as_a_pod_does(self, *arguments):
        os.mkdir(self.state)
        os.chown(self.state, USER, USER)
        os.chmod(os.path.dirname(self.directory), 0o755)
        prefix = ["unshare", "--mount", "sh", "-c", RUN, "run", self.root, self.directory, self.state]
        return harness.Trainwatch(self.directory, *arguments, state=self.state, prefix=prefix)

    def test_what_the_image_says(self):
        config = self.image["config"]
        self.assertEqual(config["User"], "%d:%d" % (USER, USER))
        self.assertEqual(config["Entrypoint"], ["/usr/bin/trainwatch"])
        self.assertEqual(config["Labels"]["org.opencontainers.image.title"], "trainwatch")
        self.assertEqual(config["Labels"]["org.opencontainers.image.version"], "test")

    def test_size(self):
        size = sum(os.lstat(os.path.join(folder, file)).st_size
                   for folder, _, files in os.walk(self.root) for file in files)
        print("image: %.1f MB" % (size / 1e6))
        self.assertLess(size, MOST_BYTES)

    def test_no_shell_and_nothing_of_roots_to_write(self):
        for shell in ("sh", "bash", "busybox"):
            self.assertFalse(os.path.exists(os.path.join(self.root, "usr/bin", shell)))
        for folder, _, files in os.walk(self.root):
            for file in files:
                self.assertFalse(os.lstat(os.path.join(folder, file)).st_mode & 0o6002, file)

    def test_watches_and_answers(self):
        with self.run_as_a_pod_does("--process.ends-with-job=true") as trainwatch:
            with open("/proc/%d/status" % trainwatch.pid) as status:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
            self.assertEqual(set(fields["Uid"].split()), {str(USER)})
            self.assertEqual(int(fields["CapEff"], 16), 0)
            shutil.copytree(harness.JOB, self.directory, dirs_exist_ok=True)
            replayed = harness.replay(harness.JOB)
            harness.wait_for(lambda: len(trainwatch.json("/api/v1/alerts?after=0")["alerts"]) >= len(replayed),
                             "its alerts")
            self.assertIn("trainwatch_build_info", trainwatch.get("/metrics"))
            with self.assertRaises(OSError):
                open("/proc/%d/root/var/lib/trainwatch/x" % trainwatch.pid, "w")  # of this test: read-only there
            self.assertEqual(trainwatch.stop(), 0)
            self.assertNotIn("level=error", trainwatch.log())


if __name__ == "__main__":
    for program in ("buildah", "unshare", "setpriv", *(["mmdebstrap"] if LONG else [])):
        if shutil.which(program) is None:
            harness.skip(program + " is not installed")
    if os.geteuid() != 0:
        harness.skip("only root may mount")
    harness.main()
