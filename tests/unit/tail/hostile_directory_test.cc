// SPDX-License-Identifier: Apache-2.0
// Somebody who may write to a watched directory and wants trainwatch to read something else, to
// hang, or to be shown a name that is no text. The numbers are those of the fault catalogue.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tail/tailer.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::test::hostile_directory_test {

namespace stdfs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lookup = OpenBeneath::Lookup;

constexpr std::string_view kInside = "inside\n";
constexpr std::string_view kOutside = "outside\n";

class HostileDirectoryTest : public ::testing::TestWithParam<Lookup> {
 protected:
  void watch(bool follow_links = false) {
    root.follow_links = follow_links;
    fs.emplace(std::vector{root}, GetParam());
    tailer.emplace(*fs, std::vector{root});
  }
  std::vector<std::string> pass() {
    tailer->scan(sink, now += std::chrono::seconds(1));
    while (tailer->read(sink)) {
    }
    return sink.take_calls();
  }
  std::vector<std::string> skipped() {
    std::vector<std::string> found;
    for (const auto& each : tailer->skipped().first()) {
      found.push_back(each.path.substr(root.path.size() + 1) + ' ' +
                      std::string(to_string(each.reason)));
    }
    return found;
  }
  // What open() shows at `path`; empty if it refuses.
  std::string content(const std::string& path) {
    char buffer[64];
    const auto file = fs->open(path);
    const auto size = file ? (*file)->read(0, buffer) : Result<std::size_t>(file.error());
    return size ? std::string(buffer, *size) : std::string();
  }

  TempDirectory dir;
  WatchRoot root{dir / "job", "job"};
  std::optional<PosixFileSystem> fs;
  std::optional<Tailer> tailer;
  RecordingSink sink;
  ScanTime now{};
};

// Exchanges two names, again and again, until it is destroyed.
class Swapper {
 public:
  Swapper(std::string a, std::string b)
      : a_(std::move(a)), b_(std::move(b)), thread_([this] { run(); }) {}
  ~Swapper() {
    stop_ = true;
    thread_.join();
  }
  std::uint64_t swaps() const { return swaps_; }

 private:
  void run() {
    while (!stop_) {
      if (::renameat2(AT_FDCWD, a_.c_str(), AT_FDCWD, b_.c_str(), RENAME_EXCHANGE) == 0) ++swaps_;
    }
  }
  std::string a_, b_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> swaps_{0};
  std::thread thread_;
};

int rounds() {
  const char* const wanted = std::getenv("TRAINWATCH_SWAPS");
  return wanted == nullptr ? 10'000 : std::atoi(wanted);
}

// What a reader that trusts paths would see.
std::string naive_content(const std::string& path) {
  char buffer[64];
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t size = file.valid() ? ::read(file.get(), buffer, sizeof buffer) : -1;
  return size < 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(size));
}

// Catalogue 63.
TEST_P(HostileDirectoryTest, ADirectorySwappedForALinkNeverShowsWhatIsOutside) {
  dir.append("job/d/a.json", kInside);
  dir.append("elsewhere/a.json", kOutside);
  dir.append("elsewhere/secret.json", kOutside);
  stdfs::create_directory_symlink(dir / "elsewhere", dir / "job/link");
  watch();
  int inside = 0;
  int naive_outside = 0;
  const Swapper swapper(dir / "job/d", dir / "job/link");
  for (int i = 0; i < rounds(); ++i) {
    const std::string seen = content(dir / "job/d/a.json");
    ASSERT_NE(seen, kOutside) << "after " << i;
    inside += seen == kInside ? 1 : 0;
    const auto entries = fs->list(dir / "job/d");
    if (entries) {
      ASSERT_EQ(entries->size(), 1U) << "after " << i;
    }
    const auto stat = fs->stat(dir / "job/d/a.json");
    if (stat) {
      ASSERT_EQ(stat->size, kInside.size()) << "after " << i;
    }
    naive_outside += naive_content(dir / "job/d/a.json") == kOutside ? 1 : 0;
  }
  EXPECT_GT(swapper.swaps(), 0U);
  EXPECT_GT(inside, 0);
  EXPECT_GT(naive_outside, 0) << "nothing was swapped at the right moment: this test is blind";
}

// Catalogue 63.
TEST_P(HostileDirectoryTest, AFileSwappedForALinkNeverShowsWhatIsOutside) {
  dir.append("job/a.json", kInside);
  dir.append("elsewhere/a.json", kOutside);
  stdfs::create_symlink(dir / "elsewhere/a.json", dir / "job/link.json");
  watch();
  int inside = 0;
  const Swapper swapper(dir / "job/a.json", dir / "job/link.json");
  for (int i = 0; i < rounds(); ++i) {
    const std::string seen = content(dir / "job/a.json");
    ASSERT_NE(seen, kOutside) << "after " << i;
    inside += seen == kInside ? 1 : 0;
    const auto stat = fs->stat(dir / "job/a.json");
    if (stat) {
      ASSERT_EQ(stat->size, kInside.size()) << "after " << i;
    }
  }
  EXPECT_GT(inside, 0);
}

// Catalogue 63, with everything above the file system.
TEST_P(HostileDirectoryTest, ATailerReadsOnlyWhatIsInside) {
  dir.append("job/d/a.json", kInside);
  dir.append("elsewhere/a.json", kOutside);
  stdfs::create_directory_symlink(dir / "elsewhere", dir / "job/link");
  watch();
  {
    const Swapper swapper(dir / "job/d", dir / "job/link");
    for (int i = 0; i < rounds() / 10; ++i) pass();
  }
  for (const auto& [id, file] : sink.files) {
    EXPECT_EQ(file.bytes.find(kOutside), std::string::npos) << file.path;
  }
}

// Catalogue 61.
TEST_P(HostileDirectoryTest, LinksAreListedAsSkipped) {
  dir.append("job/real.json", "x");
  dir.append("elsewhere/secret.json", "secret");
  stdfs::create_symlink("/etc/passwd", dir / "job/a.json");
  stdfs::create_symlink("../elsewhere/secret.json", dir / "job/b.json");
  stdfs::create_symlink("real.json", dir / "job/c.json");
  stdfs::create_directory_symlink("../elsewhere", dir / "job/d");
  stdfs::create_directory_symlink(".", dir / "job/loop");
  watch();
  EXPECT_THAT(pass(), ElementsAre("opened real.json", "data real.json"));
  EXPECT_THAT(skipped(),
              ElementsAre("a.json symbolic_link", "b.json symbolic_link", "c.json symbolic_link",
                          "d symbolic_link", "loop symbolic_link"));
  EXPECT_EQ(tailer->skipped().count(SkipReason::symbolic_link), 5U);
  EXPECT_FALSE(fs->open(dir / "job/d/secret.json"));
  EXPECT_FALSE(fs->list(dir / "job/d"));
  EXPECT_FALSE(fs->open(dir / "job/../elsewhere/secret.json"));
  EXPECT_FALSE(fs->open(dir / "elsewhere/secret.json")) << "not below the root";
}

// Catalogue 61: opt-in.
TEST_P(HostileDirectoryTest, LinksAreFollowedAsFarAsTheyStayBelowTheRoot) {
  if (GetParam() != Lookup::kernel) GTEST_SKIP() << "needs openat2";
  dir.append("job/data/blob", "inside");
  dir.append("elsewhere/secret.json", "secret");
  stdfs::create_symlink("data/blob", dir / "job/a.json");
  stdfs::create_symlink("../elsewhere/secret.json", dir / "job/b.json");
  stdfs::create_symlink(dir / "job/data/blob", dir / "job/c.json");
  stdfs::create_directory_symlink(".", dir / "job/loop");
  watch(true);
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
  EXPECT_EQ(sink.file(dir / "job/a.json").bytes, "inside");
  EXPECT_THAT(skipped(),
              ElementsAre("b.json symbolic_link", "c.json symbolic_link", "loop symbolic_link"))
      << "an absolute link is no promise to stay below the root";
}

TEST_P(HostileDirectoryTest, ARootThatBecomesALinkIsMissing) {
  dir.append("job/a.json", "x");
  dir.append("elsewhere/a.json", "secret");
  watch();
  EXPECT_THAT(pass(), ElementsAre("opened a.json", "data a.json"));
  stdfs::rename(dir / "job", dir / "old");
  stdfs::create_directory_symlink(dir / "elsewhere", dir / "job");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(tailer->missing_roots(), ElementsAre(root.path));
  stdfs::remove(dir / "job");
  stdfs::rename(dir / "old", dir / "job");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(tailer->missing_roots(), IsEmpty());
}

TEST_P(HostileDirectoryTest, ARootThatIsMadeAnewIsReadAnew) {
  dir.append("job/a.json", "x");
  watch();
  pass();
  stdfs::remove_all(dir / "job");
  pass();
  dir.append("job/b.json", "y");
  EXPECT_THAT(pass(), ElementsAre("opened b.json", "data b.json"));
}

// Catalogue 62.
TEST_P(HostileDirectoryTest, WhatIsNoFileIsSkippedAndNothingHangs) {
  dir.append("job/dir.json/real.json", "x");
  ASSERT_EQ(::mkfifo((dir / "job/fifo.jsonl").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((dir / "job/fifo").c_str(), 0600), 0);
  const FileHandle socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{AF_UNIX, {}};
  const std::string path = dir / "job/socket.json";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const bool device = ::mknod((dir / "job/zero.json").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0;
  watch();
  EXPECT_THAT(pass(), ElementsAre("opened real.json", "data real.json"));
  EXPECT_THAT(pass(), IsEmpty());
  std::vector<std::string> expected = {"fifo.jsonl not_regular", "socket.json not_regular"};
  if (device) expected.emplace_back("zero.json not_regular");
  EXPECT_EQ(skipped(), expected);
  for (const char* name : {"job/fifo.jsonl", "job/socket.json", "job/dir.json", "job/zero.json"}) {
    EXPECT_FALSE(fs->open(dir / name)) << name;
  }
}

// Catalogue 64: names are bytes.
TEST_P(HostileDirectoryTest, NamesOfAnyBytesAreRead) {
  const std::vector<std::string> names = {"new\nline.json",
                                          "\x1b[31mred.json",
                                          "\"quoted\\.json",
                                          "\xff\xfe.json",
                                          std::string(250, 'n') + ".json",
                                          " .json",
                                          "tab\t.json",
                                          "\xe2\x80\xae"
                                          "gnp.json"};
  std::vector<std::string> expected;
  for (const std::string& name : names) {
    dir.append("job/" + name, name);
    expected.push_back("opened " + name);
    expected.push_back("data " + name);
  }
  watch();
  EXPECT_THAT(pass(), ::testing::UnorderedElementsAreArray(expected));
  for (const std::string& name : names) EXPECT_EQ(sink.file(dir / ("job/" + name)).bytes, name);
}

// Catalogue 11.
TEST_P(HostileDirectoryTest, AHardLinkIsReadOnce) {
  dir.append("job/a.json", "x");
  stdfs::create_hard_link(dir / "job/a.json", dir / "job/b.json");
  stdfs::create_directory(dir / "job/c");
  stdfs::create_hard_link(dir / "job/a.json", dir / "job/c/d.json");
  watch();
  EXPECT_EQ(pass().size(), 2U);
  dir.append("job/a.json", "y");
  EXPECT_EQ(pass().size(), 1U);
  EXPECT_EQ(sink.total, 2U);
  EXPECT_EQ(tailer->files().size(), 1U);
  EXPECT_THAT(skipped(), ElementsAre("b.json same_file", "c/d.json same_file"));
  stdfs::remove(dir / "job/a.json");
  pass();
  pass();
  EXPECT_THAT(skipped(), ElementsAre("c/d.json same_file")) << "b.json is its name now";
  EXPECT_EQ(sink.total, 2U);
}

// Catalogue 52.
TEST_P(HostileDirectoryTest, DirectoriesBelowTheDepthLimitAreCounted) {
  std::string deep = "job";
  for (int i = 0; i < 100; ++i) {
    deep += "/d";
    dir.append(deep + "/" + std::to_string(i) + ".json", "x");
  }
  watch();
  EXPECT_EQ(pass().size(), 2 * 8U);
  EXPECT_THAT(skipped(), ElementsAre("d/d/d/d/d/d/d/d/d too_deep"));
}

INSTANTIATE_TEST_SUITE_P(Lookups, HostileDirectoryTest,
                         ::testing::Values(Lookup::kernel, Lookup::by_component),
                         [](const auto& each) {
                           return each.param == Lookup::kernel ? "kernel" : "by_component";
                         });

// In this thread, openat2() fails from now on.
bool without_openat2(std::uint32_t error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(OpenBeneathTest, WorksWhereTheKernelOrASandboxHasNoOpenat2) {
  for (const std::uint32_t error : {ENOSYS, EPERM}) {
    TempDirectory dir;
    dir.append("job/d/a.json", "x");
    stdfs::create_directory_symlink(dir / "job/d", dir / "job/link");
    bool filtered = false;
    bool opened = false;
    bool refused = false;
    std::thread([&] {
      filtered = without_openat2(error);
      PosixFileSystem fs({{dir / "job", "job"}});
      opened = fs.open(dir / "job/d/a.json").ok();
      refused = !fs.open(dir / "job/link/a.json").ok();
    }).join();
    if (!filtered) GTEST_SKIP() << "seccomp is not available";
    EXPECT_TRUE(opened);
    EXPECT_TRUE(refused);
  }
}

}  // namespace trainwatch::test::hostile_directory_test
