// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "daemon/app/sd_notify.h"
#include "pipeline/tail/file_handle.h"

namespace trainwatch::notify_test {

// What systemd is to the service: a datagram socket.
class Supervisor {
 public:
  explicit Supervisor(const std::string& name) : file_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    bound_ = bind(file_.get(), reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) == 0;
  }
  bool bound() const { return bound_; }
  std::string next() const {
    char text[512];
    const ssize_t size = recv(file_.get(), text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }

 private:
  FileHandle file_;
  bool bound_ = false;
};

void sends_everything(const std::string& name) {
  const Supervisor supervisor(name);
  ASSERT_TRUE(supervisor.bound());
  const ServiceNotifier notifier(name);
  notifier.ready("watching 2\ndirectories");
  EXPECT_EQ(supervisor.next(), "READY=1\nSTATUS=watching 2 directories");
  notifier.reloading();
  EXPECT_THAT(supervisor.next(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  notifier.watchdog();
  EXPECT_EQ(supervisor.next(), "WATCHDOG=1");
  notifier.stopping(std::chrono::seconds(15));
  EXPECT_EQ(supervisor.next(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000");
}

TEST(ServiceNotifier, SpeaksToASocketInTheFileSystem) {
  const std::string path = testing::TempDir() + "notify_" + std::to_string(getpid());
  unlink(path.c_str());
  sends_everything(path);
  unlink(path.c_str());
}

TEST(ServiceNotifier, SpeaksToAnAbstractSocket) {
  sends_everything("@trainwatch-test-" + std::to_string(getpid()));
}

TEST(ServiceNotifier, WithoutAListenerDoesNothing) {
  ServiceNotifier("").ready("x");
  ServiceNotifier("/nonexistent/socket").ready("x");
  ServiceNotifier("relative").ready("x");
  ServiceNotifier(std::string(300, '/')).ready("x");
}

TEST(ServiceNotifier, TakesTheSocketFromTheEnvironment) {
  const std::string name = "@trainwatch-env-" + std::to_string(getpid());
  const Supervisor supervisor(name);
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  ServiceNotifier().watchdog();
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(supervisor.next(), "WATCHDOG=1");
}

TEST(Watchdog, IsWhatSystemdAsksOfThisProcess) {
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
  EXPECT_FALSE(watchdog_interval());
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(*watchdog_interval(), std::chrono::seconds{30});
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(watchdog_interval());
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_TRUE(watchdog_interval());
  setenv("WATCHDOG_USEC", "often", 1);
  EXPECT_FALSE(watchdog_interval());
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

}  // namespace trainwatch::notify_test
