// SPDX-License-Identifier: Apache-2.0
// Each test is a process of its own, as nothing of this can be undone.
#include "daemon/app/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include "pipeline/tail/file_handle.h"
#include "support/temp_directory.h"

namespace trainwatch::sandbox_test {

namespace fs = std::filesystem;

// 0, or the error of the call.
int error_of(bool done) {
  return done ? 0 : errno;
}
int open_error(const std::string& path, int flags) {
  return error_of(FileHandle(open(path.c_str(), flags | O_CLOEXEC, 0600)).valid());
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_ / "jobs/run");
    fs::create_directory(directory_ / "state");
    directory_.append("jobs/run/a.json", "{}");
    directory_.append("state/state.db", "old");
    directory_.append("secret/key", "secret");
  }
  SandboxPaths paths() const { return {{directory_ / "jobs/run"}, {directory_ / "state"}}; }

  // Ends a process of its own with 0 if `part` is enforced and the calls end with these errors.
  struct Call {
    const char* name;
    std::function<int()> run;
    int error;
  };
  void expect_in_sandbox(const std::string& part, const std::vector<Call>& calls) const {
    const auto check = [&] {
      const Sandbox sandbox = enter_sandbox(paths());
      if (sandbox.enforced.find(part) == std::string::npos) {
        std::cerr << "skipped: " << sandbox.missing << '\n';
        std::_Exit(0);
      }
      int wrong = 0;
      for (const Call& call : calls) {
        const int got = call.run();
        if (got == call.error) continue;
        std::cerr << call.name << ": error " << got << " instead of " << call.error << '\n';
        ++wrong;
      }
      std::_Exit(wrong);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
  }
  test::TempDirectory directory_;
};

TEST_F(SandboxTest, LeavesOnlyTheFilesThatAreNeeded) {
  const std::string job = directory_ / "jobs/run";
  const std::string state = directory_ / "state";
  expect_in_sandbox(
      "landlock",
      {{"read a job", [&] { return open_error(job + "/a.json", O_RDONLY); }, 0},
       {"list a job", [&] { return open_error(job, O_RDONLY | O_DIRECTORY); }, 0},
       {"write a job", [&] { return open_error(job + "/a.json", O_WRONLY); }, EACCES},
       {"create in a job", [&] { return open_error(job + "/b", O_WRONLY | O_CREAT); }, EACCES},
       {"remove from a job", [&] { return error_of(unlink((job + "/a.json").c_str()) == 0); },
        EACCES},
       {"create state", [&] { return open_error(state + "/new", O_RDWR | O_CREAT); }, 0},
       {"truncate state", [&] { return open_error(state + "/state.db", O_RDWR | O_TRUNC); }, 0},
       {"remove state", [&] { return error_of(unlink((state + "/new").c_str()) == 0); }, 0},
       {"read a secret", [&] { return open_error(directory_ / "secret/key", O_RDONLY); }, EACCES},
       {"read the users", [] { return open_error("/etc/passwd", O_RDONLY); }, EACCES},
       {"list the root", [] { return open_error("/", O_RDONLY | O_DIRECTORY); }, EACCES}});
}

// As a job's directory may be made anew, or only exist later.
TEST_F(SandboxTest, ReadsARootThatIsReplaced) {
  const std::string job = directory_ / "jobs/run";
  // Another process makes it anew, when the sandbox is entered.
  const fs::path before = directory_ / "jobs/next";
  fs::create_directory(before);
  directory_.append("jobs/next/b.json", "{}");
  expect_in_sandbox("landlock",
                    {{"read", [&] { return open_error(before / "b.json", O_RDONLY); }, 0}});
}

TEST_F(SandboxTest, ConnectsToNobody) {
  const auto connect_error = [] {
    const FileHandle peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return error_of(connect(peer.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                    0);
  };
  const auto check = [&] {
    const Sandbox sandbox = enter_sandbox(paths());
    const bool knows_network = sandbox.enforced.find("landlock") != std::string::npos &&
                               std::stoi(sandbox.enforced.substr(9)) >= 4;
    std::_Exit(!knows_network || connect_error() == EACCES ? 0 : 1);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST_F(SandboxTest, RefusesCallsThatTheDaemonNeverMakes) {
  const auto program = [] {
    char name[] = "/bin/true";
    char* arguments[] = {name, nullptr};
    return error_of(execve(name, arguments, nullptr) == 0);
  };
  expect_in_sandbox(
      "seccomp",
      {{"a program", program, EPERM},
       {"a mount", [] { return error_of(mount("none", "/", "tmpfs", 0, nullptr) == 0); }, EPERM},
       {"another user", [] { return error_of(setuid(0) == 0); }, EPERM},
       {"a device", [] { return error_of(mknod("/tmp/trainwatch-device", S_IFCHR, 0) == 0); },
        EPERM},
       {"a thread",
        [] {
          std::thread([] {}).join();
          return 0;
        },
        0},
       {"who it is", [] { return error_of(getppid() > 0); }, 0}});
}

// A thread that already runs keeps its files, and loses the calls.
TEST_F(SandboxTest, RefusesCallsInEveryThread) {
  const auto check = [&] {
    std::atomic<int> step = 0;
    int error = 0;
    std::thread other([&] {
      step.wait(0);
      error = error_of(chroot("/") == 0);
    });
    const Sandbox sandbox = enter_sandbox(paths());
    step = 1;
    step.notify_all();
    other.join();
    const bool expected = sandbox.enforced.find("seccomp") == std::string::npos || error == EPERM;
    std::_Exit(expected ? 0 : 1);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

}  // namespace trainwatch::sandbox_test
