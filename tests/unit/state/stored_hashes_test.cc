// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/stored_hashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainwatch::stored_hashes_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Lists what is written: "key=value", "-key".
class Written final : public StateRowWriter {
 public:
  Status put(const std::string& key, std::string_view value) override {
    if (all.size() == room) return Error{"disk full"};
    all.push_back(key + "=" + std::string(value));
    return success();
  }
  Status erase(const std::string& key) override {
    if (all.size() == room) return Error{"disk full"};
    all.push_back("-" + key);
    return success();
  }

  std::vector<std::string> all;
  std::size_t room = 100;
};

class StoredHashesTest : public testing::Test {
 protected:
  using Rows = std::vector<std::pair<std::string, char>>;

  std::vector<std::string> write(const Rows& rows, bool all = false) {
    Written written;
    EXPECT_TRUE(put(written, rows, all).ok());
    stored_.committed();
    return written.all;
  }
  Status put(Written& written, const Rows& rows, bool all = false) {
    return stored_.write(written, all, [&](StateRows& to) {
      for (const auto& [key, value] : rows) {
        to.put(key, [&value = value](StateIo& io) {
          char written_value = value;
          io(written_value);
        });
      }
    });
  }

  StoredHashes stored_;
};

TEST_F(StoredHashesTest, WritesWhatDiffers) {
  EXPECT_THAT(write({{"a", '1'}, {"b", '1'}}), ElementsAre("a=1", "b=1"));
  EXPECT_THAT(write({{"a", '1'}, {"b", '2'}}), ElementsAre("b=2"));
  EXPECT_THAT(write({}), IsEmpty());
}

TEST_F(StoredHashesTest, ErasesWhatIsNotPutIfEverythingIs) {
  stored_.add("a", "1");
  stored_.add("b", "1");
  EXPECT_THAT(write({{"b", '1'}, {"c", '1'}}, true), UnorderedElementsAre("c=1", "-a"));
  EXPECT_THAT(write({{"b", '1'}, {"c", '1'}}, true), IsEmpty());
}

TEST_F(StoredHashesTest, ARowThatIsRemovedAndPutAgainIsWritten) {
  write({{"a", '1'}});
  Written written;
  ASSERT_TRUE(stored_.write(written, false, [](StateRows& rows) {
    rows.remove("a");
    rows.remove("unknown");
    rows.put("a", [](StateIo& io) {
      char value = '1';
      io(value);
    });
  }));
  EXPECT_THAT(written.all, ElementsAre("-a", "a=1"));
}

TEST_F(StoredHashesTest, AfterAFailureTheStoreHoldsWhatItHeld) {
  write({{"a", '1'}, {"b", '1'}});
  Written written;
  written.room = 2;
  EXPECT_FALSE(put(written, {{"a", '2'}, {"c", '1'}, {"d", '1'}}).ok());
  EXPECT_THAT(written.all, ElementsAre("a=2", "c=1"));
  stored_.failed();
  EXPECT_THAT(write({{"a", '2'}, {"b", '1'}, {"c", '1'}}, true), ElementsAre("a=2", "c=1"));
}

}  // namespace trainwatch::stored_hashes_test
