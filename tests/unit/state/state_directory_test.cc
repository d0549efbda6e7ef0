// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/open_store.h"
#include "support/temp_directory.h"

namespace trainwatch::state_directory_test {

using test::open_store;
using test::refusal;
using test::store_options;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Why = OpenFailure::Why;
namespace fs = std::filesystem;

class StateDirectoryTest : public testing::Test {
 protected:
  unsigned mode() const {
    struct stat now {};
    EXPECT_EQ(::stat(directory_.path().c_str(), &now), 0);
    return now.st_mode & 07777U;
  }
  void expect_refused(const std::string& name, const std::string& kind) const {
    SCOPED_TRACE(name);
    const OpenFailure failure = refusal(store_options(directory_.path()));
    EXPECT_EQ(failure.why, Why::not_ours);
    EXPECT_THAT(failure.message, HasSubstr(name + " is a " + kind));
    fs::remove(directory_ / name);
  }
  test::TempDirectory directory_;
};

const std::vector<std::string> kNames{"state.db", "state.db-wal", "state.db-shm",
                                      "state.db-journal", "state.db.lock"};

// Case 71. Opening one of these would wait for somebody at its other end.
TEST_F(StateDirectoryTest, APipeInPlaceOfAFileIsRefused) {
  for (const std::string& name : kNames) {
    ASSERT_EQ(::mkfifo((directory_ / name).c_str(), 0600), 0);
    expect_refused(name, "FIFO");
  }
}

TEST_F(StateDirectoryTest, ALinkInPlaceOfAFileIsRefused) {
  const test::TempDirectory elsewhere;
  elsewhere.append("precious", "content");
  for (const std::string& name : kNames) {
    fs::create_symlink(elsewhere / "precious", directory_ / name);
    expect_refused(name, "symbolic link");
    fs::create_symlink(elsewhere / "missing", directory_ / name);
    expect_refused(name, "symbolic link");
  }
  EXPECT_EQ(elsewhere.read("precious"), "content");
  EXPECT_FALSE(fs::exists(elsewhere / "missing"));
}

TEST_F(StateDirectoryTest, ADirectoryOrSocketInPlaceOfAFileIsRefused) {
  for (const std::string& name : kNames) {
    fs::create_directory(directory_ / name);
    expect_refused(name, "directory");
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (directory_ / name).copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    expect_refused(name, "socket");
    ::close(socket);
  }
}

TEST_F(StateDirectoryTest, IsMadePrivateIfItIsOurs) {
  for (const unsigned wide : {0777U, 0755U, 0701U}) {
    ASSERT_EQ(::chmod(directory_.path().c_str(), wide), 0);
    const auto store = open_store(store_options(directory_.path()));
    EXPECT_THAT(store->notes(), ElementsAre(HasSubstr("it has 0700 now")));
    EXPECT_EQ(mode(), 0700U);
  }
  EXPECT_THAT(open_store(store_options(directory_.path()))->notes(), IsEmpty());
}

// A home directory, or /tmp, is not closed to others without being asked.
TEST_F(StateDirectoryTest, IsLeftAloneIfItHoldsMoreOrIsShared) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  EXPECT_THAT(open_store(store_options(directory_.path()))->notes(),
              ElementsAre(HasSubstr("had mode 1777; others may enter it")));
  EXPECT_EQ(mode(), 01777U);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  directory_.append("notes.txt", "mine");
  EXPECT_THAT(open_store(store_options(directory_.path()))->notes(),
              ElementsAre(HasSubstr("others may enter it")));
  EXPECT_EQ(mode(), 0755U);
}

}  // namespace trainwatch::state_directory_test
