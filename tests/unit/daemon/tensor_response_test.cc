// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/tensor_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/app/tensor_value_response.h"
#include "pipeline/tail/posix_file_system.h"
#include "tests/unit/tensors/tensor_record.h"

namespace trainwatch::tensor_response_test {

namespace fs = std::filesystem;
using namespace tensor_record;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class UnlimitedFiles final : public RequestFiles {
 public:
  explicit UnlimitedFiles(std::vector<WatchRoot> roots) : files_(std::move(roots)) {}
  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    return files_.list(directory);
  }
  Result<FileStat> stat(const std::string& path) override { return files_.stat(path); }
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    return files_.open(path);
  }
  bool ended() override { return false; }

 private:
  PosixFileSystem files_;
};

class TensorResponseTest : public testing::Test {
 protected:
  TensorResponseTest()
      : directory_(fs::canonical(fs::temp_directory_path()) /
                   ("tensor_response_test." + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "watched");
  }
  ~TensorResponseTest() override { fs::remove_all(directory_); }

  std::vector<WatchRoot> roots() const {
    return {WatchRoot{(directory_ / "watched").string(), "jobs"}};
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream{directory_ / name, std::ios::binary} << text;
  }
  // A step of a trial with one worker and the tensor w.
  void save(const std::string& trial, int step, const std::string& proto) {
    const std::string record = frame(event(proto));
    std::string number = std::to_string(step);
    number.insert(0, 12 - number.size(), '0');
    write(trial + "/events/" + number, record);
    write(trial + "/index/000000000/" + number + "_worker_0.json",
          R"({"meta":{"mode":"TRAIN","mode_step":)" + std::to_string(step) +
              R"(,"event_file_name":"events/)" + number +
              R"("},"tensor_payload":[{"tensorname":"w","start_idx":0,"length":)" +
              std::to_string(record.size()) + "}]}");
  }
  static std::string matrix() {
    return with_content(tensor(1, {2, 2}), bytes_of(std::vector<float>{1, 2, 3, 4}));
  }
  HttpResponse ask(const std::string& path, const std::string& query) {
    const auto parsed = parse_tensor_query(path, query);
    EXPECT_TRUE(parsed) << query;
    return responder_.respond(files_, *parsed);
  }
  HttpResponse list(const std::string& query) { return ask("/api/v1/tensors", query); }
  HttpResponse value(const std::string& query) { return ask("/api/v1/tensors/value", query); }

  fs::path directory_;
  UnlimitedFiles files_{roots()};
  TensorResponder responder_{roots()};
};

TEST_F(TensorResponseTest, ListsTheTrialsBelowTheRoots) {
  EXPECT_EQ(list("").body, "{\"trials\":[]}\n");
  save("watched/a/debug-output", 3, matrix());
  save("elsewhere", 3, matrix());
  EXPECT_EQ(list("").body,
            R"({"trials":[{"root":"jobs","trial":"a/debug-output","workers":["worker_0"],)"
            R"("steps":{"GLOBAL":[3],"TRAIN":[3]},"names":["w"],"collections":{},)"
            R"("last_complete_step":3,"loaded_all_steps":false,"rejected":[]}]})"
            "\n");
  EXPECT_THAT(list("regex=x").body, HasSubstr(R"("names":[])"));
  EXPECT_THAT(list("step=3").body,
              HasSubstr(R"("state":"available","tensors":[{"name":"w","step":3,"mode":"TRAIN",)"
                        R"("mode_step":3,"worker":"worker_0","shape":[2,2],"dtype":"float32",)"
                        R"("has_values":true,"reductions":[]}])"));
  EXPECT_THAT(list("step=2").body, HasSubstr(R"("state":"unavailable","tensors":[])"));
  EXPECT_THAT(list("step=4").body, HasSubstr(R"("state":"not_yet_available","tensors":[])"));
  EXPECT_EQ(list("regex=(").status, 400);
}

TEST_F(TensorResponseTest, ATrialIsNamedAndNoPathIsFollowed) {
  save("watched/a", 0, matrix());
  save("elsewhere", 0, matrix());
  EXPECT_EQ(value("name=w&step=0").status, 200);  // the only one
  save("watched/b", 0, matrix());
  EXPECT_EQ(list("trial=b").status, 200);
  EXPECT_EQ(value("name=w&step=0").status, 400);
  EXPECT_EQ(value("trial=b&name=w&step=0").status, 200);
  EXPECT_EQ(value("trial=b&root=other&name=w&step=0").status, 404);
  for (const char* wrong : {"../elsewhere", "b/../../elsewhere", "b/", "", ".", "/b"}) {
    EXPECT_EQ(value("trial=" + std::string(wrong) + "&name=w&step=0").status, 404) << wrong;
    EXPECT_EQ(list("trial=" + std::string(wrong)).status, 404) << wrong;
  }
  fs::create_directory_symlink(directory_ / "elsewhere", directory_ / "watched/link");
  EXPECT_THAT(list("").body, Not(HasSubstr("link")));
}

// An index file that leads out of the watched path reads nothing there.
TEST_F(TensorResponseTest, AnIndexFileLeadsNowhereElse) {
  save("watched/a", 0, matrix());
  const std::string record = frame(event(matrix()));
  write("secret", record);
  write("watched/a/index/000000000/000000000001_worker_0.json",
        R"({"meta":{"mode":"TRAIN","mode_step":1,"event_file_name":"../../secret"},)"
        R"("tensor_payload":[{"tensorname":"w","start_idx":0,"length":)" +
            std::to_string(record.size()) + "}]}");
  EXPECT_EQ(value("name=w&step=0").status, 200);
  EXPECT_EQ(value("name=w&step=1").status, 404);
}

TEST_F(TensorResponseTest, ValuesReductionsAndFiles) {
  save("watched", 5, matrix());
  EXPECT_EQ(value("trial=.&name=w&step=5&mode=TRAIN").body,
            R"({"name":"w","step":5,"mode":"TRAIN","mode_step":5,"worker":"worker_0",)"
            R"("dtype":"float32","shape":[2,2],"values":[1,2,3,4]})"
            "\n");
  EXPECT_THAT(value("name=w&step=5&slice=1").body, HasSubstr(R"("shape":[2],"values":[3,4])"));
  EXPECT_THAT(value("name=w&step=5&reduction=l1").body,
              HasSubstr(R"("reduction":"l1","value":6,"computed":true)"));
  const auto npy = value("name=w&step=5&format=npy");
  EXPECT_EQ(npy.content_type, "application/octet-stream");
  EXPECT_THAT(npy.body, StartsWith("\x93NUMPY"));
  const auto png = value("name=w&step=5&format=png");
  EXPECT_EQ(png.content_type, "image/png");
  EXPECT_THAT(png.body, StartsWith("\x89PNG"));
  EXPECT_EQ(value("name=w&step=5&slice=7").status, 400);
  EXPECT_EQ(value("name=w&step=5&slice=0,0&format=png").status, 400);
  EXPECT_EQ(value("name=v&step=5").status, 404);
  EXPECT_EQ(value("name=w&step=5&worker=worker_1").status, 404);
}

TEST_F(TensorResponseTest, TheStateOfAStepThatIsNotThere) {
  save("watched", 5, matrix());
  EXPECT_EQ(value("name=w&step=4").body,
            R"({"status":404,"error":"step 4 is not available","state":"unavailable"})"
            "\n");
  EXPECT_THAT(value("name=w&step=6").body, HasSubstr(R"("state":"not_yet_available")"));
  save("watched", 6, matrix());
  EXPECT_EQ(value("name=w&step=6").status, 200);
  write("watched/training_job_end.ts", "");
  EXPECT_THAT(value("name=w&step=7").body, HasSubstr(R"("state":"unavailable")"));
}

TEST_F(TensorResponseTest, WhatTakesTooMuchMemoryIsRefused) {
  std::string repeated = tensor(1, {1 << 12, 1 << 12});
  protozero::pbf_writer{repeated}.add_float(5, 7);  // 128 MiB as doubles
  save("watched", 0, repeated);
  for (const char* what : {"", "&format=npy", "&format=png", "&slice=0,0", "&reduction=min"})
    EXPECT_EQ(value("name=w&step=0" + std::string(what)).status, 413) << what;
  const auto trial = Trial::open(files_, (directory_ / "watched").string());
  ASSERT_TRUE(trial);
  save("watched", 1, matrix());
  const auto small = Trial::open(files_, (directory_ / "watched").string());
  const auto query = parse_tensor_query("/api/v1/tensors/value", "name=w&step=1");
  EXPECT_EQ(tensor_value_response(*small, *query, 150).status, 413);
  EXPECT_EQ(tensor_value_response(*small, *query, 1000).status, 200);
}

TEST_F(TensorResponseTest, NewsAreStepsThatBecameComplete) {
  save("watched/a", 0, matrix());
  EXPECT_EQ(responder_.news(files_, true).steps, 1U);
  save("watched/a", 1, matrix());
  const auto news = responder_.news(files_, false);
  EXPECT_EQ(news.steps, 1U);
  EXPECT_EQ(news.json, R"({"trials":[{"root":"jobs","trial":"a","last_complete_step":1,)"
                       R"("loaded_all_steps":false,"skipped":0,"steps":[{"step":1,"mode":"TRAIN",)"
                       R"("mode_step":1,"names":["w"],"more_names":0}]}]})");
  EXPECT_EQ(responder_.news(files_, false).json, "");
  EXPECT_EQ(value("name=w&step=1").status, 200);
  save("watched/b", 0, matrix());
  EXPECT_EQ(responder_.news(files_, false).json, "");
  EXPECT_EQ(responder_.news(files_, true).steps, 1U);
  write("watched/b/training_job_end.ts", "");
  EXPECT_THAT(responder_.news(files_, false).json,
              HasSubstr(R"("trial":"b","last_complete_step":0,"loaded_all_steps":true,"skipped":0,)"
                        R"("steps":[])"));
  EXPECT_EQ(responder_.news(files_, true).json, "");
}

// Reading a step by request makes it no less new.
TEST_F(TensorResponseTest, NewsDoNotDependOnRequests) {
  save("watched/a", 0, matrix());
  EXPECT_EQ(list("").status, 200);
  EXPECT_EQ(responder_.news(files_, true).steps, 1U);
  save("watched/a", 1, matrix());
  EXPECT_EQ(list("").status, 200);
  EXPECT_EQ(responder_.news(files_, false).steps, 1U);
}

// Of very many steps at once the latest.
TEST_F(TensorResponseTest, NewsAreBounded) {
  for (int step = 0; step < 70; ++step) save("watched/a", step, matrix());
  const auto news = responder_.news(files_, true);
  EXPECT_EQ(news.steps, TensorResponder::kMostSteps);
  EXPECT_THAT(news.json, HasSubstr(R"("skipped":6,"steps":[{"step":6,)"));
}

TEST_F(TensorResponseTest, ManyTrialsAreReadInTurn) {
  for (int trial = 0; trial < 20; ++trial) save("watched/" + std::to_string(trial), 0, matrix());
  for (int trial = 0; trial < 20; ++trial)
    EXPECT_EQ(value("trial=" + std::to_string(trial) + "&name=w&step=0").status, 200) << trial;
  fs::remove_all(directory_ / "watched/7");
  EXPECT_EQ(list("trial=7").status, 404);
  EXPECT_EQ(value("trial=7&name=w&step=0").status, 404);
}

}  // namespace trainwatch::tensor_response_test
