// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/config/good loads; every one of bad/ gives the errors of its .expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config_fake_rules.h"
#include "daemon/config/config.h"
#include "support/source_path.h"

namespace trainwatch::config_file_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::filesystem::path kConfigs = source_path("tests/data/config");

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ConfigFileTest : public testing::Test {
 protected:
  Result<Config> load(const std::string& path) { return load_config_file(path, fakes_.catalog()); }
  FakeCatalog fakes_;
};

TEST_F(ConfigFileTest, GoodFilesLoad) {
  const auto files = files_in(kConfigs / "good");
  EXPECT_GE(files.size(), 3U);
  for (const auto& file : files) {
    const auto config = load(file);
    EXPECT_TRUE(config) << config.error().message;
  }
}

TEST_F(ConfigFileTest, BadFilesSayWhatIsWrongAndWhere) {
  const auto files = files_in(kConfigs / "bad");
  EXPECT_GE(files.size(), 10U);
  const std::string directory = (kConfigs / "bad/").string();
  for (const auto& file : files) {
    const auto config = load(file);
    ASSERT_FALSE(config) << file;
    std::string message = config.error().message + "\n";
    for (std::size_t at; (at = message.find(directory)) != std::string::npos;) {
      message.erase(at, directory.size());
    }
    auto expected = file;
    EXPECT_EQ(message, text_of(expected.replace_extension("expected")));
  }
}

TEST_F(ConfigFileTest, EverythingIsRead) {
  const auto config = load(kConfigs / "good/everything.yaml");
  ASSERT_TRUE(config);
  ASSERT_EQ(config->watch.size(), 2U);
  EXPECT_EQ(config->watch[0].path, "/data/a");
  EXPECT_EQ(config->watch[1].source, "b");
  EXPECT_EQ(config->watch[1].job, "resnet");
  EXPECT_EQ(config->watch[1].rank, 3);
  EXPECT_EQ(config->web.listen_address, "[::1]:0");
  EXPECT_THAT(config->web.allowed_hosts, testing::ElementsAre("train.example.com", "gpu7"));
  EXPECT_EQ(config->storage.path, "/var/lib/trainwatch");
  EXPECT_EQ(config->log.level, LogLevel::debug);
  EXPECT_EQ(config->log.format, LogFormat::json);
  EXPECT_EQ(config->tail.poll_interval, milliseconds{100});
  EXPECT_EQ(config->tail.limits.chunk_bytes, 65536U);
  EXPECT_EQ(config->tail.limits.max_files, 10U);
  EXPECT_EQ(config->tail.limits.max_depth, 0);
  EXPECT_EQ(config->stream.heartbeat, seconds{30});
  EXPECT_EQ(config->clients.ws.subscribers, 5U);
  EXPECT_EQ(config->clients.ws.queue_bytes, 1048576U);
  const auto rules = config->enabled_rules();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].hold, seconds{10});
  EXPECT_EQ(rules[0].keep, seconds{60});
  EXPECT_EQ(std::any_cast<const FakeParams&>(rules[0].params).sigma, 4.5);
  EXPECT_EQ(std::any_cast<const FakeParams&>(rules[0].params).window, 50);
}

TEST_F(ConfigFileTest, NothingMeansTheDefaults) {
  const auto config = load(kConfigs / "good/empty.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->web.listen_address, "127.0.0.1:9797");
  EXPECT_EQ(config->enabled_rules().size(), 2U);
}

TEST_F(ConfigFileTest, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(load("/nonexistent/x.yaml").error().message, "/nonexistent/x.yaml: cannot be read");
  EXPECT_EQ(load("/tmp").error().message, "/tmp: cannot be read");
}

}  // namespace trainwatch::config_file_test
