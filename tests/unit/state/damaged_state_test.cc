// SPDX-License-Identifier: Apache-2.0
// Case 71: whatever happened to the bytes of a store, the next start ends in a pipeline that works,
// and so does the one after it; or the file is refused, and stays as it is.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "pipeline/state/durable_pipeline.h"
#include "support/fed_file.h"
#include "support/open_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::damaged_state_test {

namespace fs = std::filesystem;
using Why = OpenFailure::Why;

constexpr std::size_t kSector = 512;

std::string line(int second) {
  return R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.5,"NodeId":"n","Timestamp":)" +
         std::to_string(1591160699 + second) + ".5}\n";
}

void run(StateStore& store, int first_second) {
  DurablePipeline pipeline({}, {}, store);
  ASSERT_TRUE(pipeline.start());
  KnownFile file;
  file.file = FileId{7};
  file.path = "/w/system.json";
  file.source = "w";
  pipeline.sink().opened(file, "lane", {});
  test::FedFile lines(pipeline.sink(), file.file);
  for (int second = first_second; second < first_second + 40; ++second) lines.append(line(second));
  pipeline.engine().flush();
  const auto committed = pipeline.commit(test::at_second(first_second));
  ASSERT_TRUE(committed.ok()) << committed.error().message;
}

struct Files {
  std::string database;
  std::string log;
};

class DamagedState : public testing::Test {
 protected:
  // As a running one leaves it when it is killed, or as one that ended does.
  Files make(bool killed) const {
    const test::TempDirectory directory;
    const auto read = [&] {
      return Files{directory.read("state.db"),
                   killed ? directory.read("state.db-wal") : std::string()};
    };
    auto store = test::open_store(test::store_options(directory.path()));
    run(*store, 0);
    std::vector<Alert> alerts;
    for (int i = 0; i < 8; ++i) alerts.push_back(test::firing("alert-" + std::to_string(i), i));
    Commit commit = test::commit_of(std::move(alerts));
    commit.acknowledged = {{"pager", 3}};
    EXPECT_TRUE(store->commit(commit).ok());
    if (killed) return read();
    store.reset();
    return read();
  }
  void put(const Files& files) const {
    for (const auto& entry : fs::directory_iterator(directory_.path())) fs::remove(entry);
    std::ofstream(directory_ / "state.db", std::ios::binary) << files.database;
    if (files.log.empty()) return;
    std::ofstream(directory_ / "state.db-wal", std::ios::binary) << files.log;
  }
  std::size_t number(std::size_t below) { return below == 0 ? 0 : random_() % below; }

  void damage(std::string& bytes) {
    const std::size_t at = number(4) == 0 ? number(100) : number(bytes.size());
    switch (number(6)) {
      case 0:
        return bytes.resize(at);
      case 1:  // a sector that was never written, or holds something else
        bytes.replace(at / kSector * kSector, kSector,
                      std::string(kSector, number(2) == 0 ? '\0' : 'S'));
        return;
      case 2: {  // a page in the place of another
        const std::string page = bytes.substr(number(bytes.size() / 4096) * 4096, 4096);
        bytes.replace(number(bytes.size() / 4096) * 4096, page.size(), page);
        return;
      }
      case 3:
        bytes[at] = static_cast<char>(random_());
        return;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << number(8)));
    }
  }

  // False if it is refused.
  bool starts(const Files& files) const {
    put(files);
    auto opened = SqliteStore::open(test::store_options(directory_.path(), "epoch-2"));
    if (const auto* failure = std::get_if<OpenFailure>(&opened)) {
      EXPECT_TRUE(failure->why == Why::not_ours || failure->why == Why::newer) << failure->message;
      EXPECT_TRUE(directory_.read("state.db") == files.database);
      return false;
    }
    auto& store = std::get<std::unique_ptr<SqliteStore>>(opened);
    const std::string epoch = store->epoch();
    const bool is_new = files.database.size() <= 1;  // nothing was there
    EXPECT_EQ(epoch == "epoch-2", is_new || !store->lost().empty());
    EXPECT_TRUE(store->alerts_after(0, 100).ok());
    EXPECT_TRUE(store->firing(100).ok());
    run(*store, 40);
    store.reset();
    store = test::open_store(test::store_options(directory_.path(), "epoch-3"));
    EXPECT_EQ(store->epoch(), epoch) << store->lost();
    EXPECT_EQ(store->repaired(), "");
    run(*store, 80);
    return true;
  }

  std::mt19937_64 random_{1};
  test::TempDirectory directory_;
};

TEST_F(DamagedState, AlwaysEndsInAPipelineThatWorksOrAFileThatStays) {
  const int most = std::getenv("TRAINWATCH_LONG") == nullptr ? 2000 : 50'000;
  int refused = 0;
  for (const bool killed : {false, true}) {
    const Files sound = make(killed);
    ASSERT_TRUE(starts(sound));
    for (int n = 0; n < most / 2; ++n) {
      SCOPED_TRACE(std::string(killed ? "killed " : "ended ") + std::to_string(n));
      Files files = sound;
      damage(killed && number(3) > 0 ? files.log : files.database);
      if (!starts(files)) ++refused;
      if (HasFailure()) return;
    }
  }
  std::cout << most << " damages, " << refused << " refused\n";
  EXPECT_LT(refused, most / 10);
}

}  // namespace trainwatch::damaged_state_test
