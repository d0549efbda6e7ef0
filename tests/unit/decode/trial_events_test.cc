// SPDX-License-Identifier: Apache-2.0
// Event files of SageMaker Debugger's trials: what reaches the TensorSink, and which losses are
// scalars.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "decode_harness.h"
#include "pipeline/decode/event_file/tensor_collections.h"
#include "pipeline/decode/event_file/tensor_event.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/tail/lane.h"
#include "samples.h"
#include "support/event_file_writer.h"
#include "support/source_path.h"

namespace trainwatch::testing::trial_events_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kPath = "/w/job/tensors/events/000000000004/000000000004_worker_1.tfevents";
constexpr std::string_view kCollections =
    R"({"collections": {"losses": {"include_regex": [], "tensor_names": ["objective"]},)"
    R"("gradients": {"include_regex": ["^gradient/", "("], "tensor_names": []},)"
    R"("all": {"include_regex": [".*"], "tensor_names": []}}, "_meta": {"num_workers": 2}})";

std::string record(std::string_view tag, std::int32_t type, const std::string& fields,
                   int mode = 1) {
  return trial_record(1.7e9 + 0.5, 4, trial_value(tag, type, fields, mode, 2));
}
std::string scalar(std::string_view tag, float value, int mode = 1) {
  return record(tag, 1, tensor_shape({}) + content_of<float>({value}), mode);
}

Outcome decode_in_trial(const std::string& content, std::string_view collections = kCollections) {
  DecodeRun run{kPath, kNoRank,
                [](const std::string& directory) {
                  return directory == "/w/job/tensors/collections/000000000"
                             ? std::vector<std::string>{"worker_0_collections.json", "other"}
                             : std::vector<std::string>{};
                },
                [&](const std::string& path, std::size_t) -> std::optional<std::string> {
                  if (!path.ends_with("/worker_0_collections.json")) return std::nullopt;
                  return std::string(collections);
                }};
  run.feed(content);
  return run.finish();
}

TEST(TrialEvents, ATensorHasStepModeRankShapeAndFigures) {
  const Outcome read = decode(
      kPath, record("w", 1, tensor_shape({2, 3}) + content_of<float>({1, -2, 0, NAN, 4, 5})));
  EXPECT_EQ(read.format, "trial_events");
  EXPECT_EQ(read.records, 1U);
  EXPECT_THAT(read.rejects, IsEmpty());
  EXPECT_THAT(read.events,
              ElementsAre(AllOf(StartsWith("tensor 1700000000500000000 step=4 mode=train:2 rank=1 "
                                           "w [2,3,] 6 1 0 1 min=-0x1p+1 max=0x1.4p+2 "),
                                HasSubstr(" 6="))));
}

TEST(TrialEvents, TensorsKnowTheirCollections) {
  const std::string numbers = tensor_shape({2}) + content_of<float>({1, 2});
  EXPECT_THAT(decode_in_trial(record("gradient/w", 1, numbers)).events,
              ElementsAre(HasSubstr(" in gradients in all ")));
  EXPECT_THAT(decode_in_trial(record("weight", 1, numbers)).events,
              ElementsAre(AllOf(HasSubstr(" in all "), Not(HasSubstr("gradients")))));
  EXPECT_THAT(decode_in_trial(record("weight", 1, numbers), "{").events,
              ElementsAre(Not(HasSubstr(" in "))));
}

TEST(TrialEvents, ALossIsAScalarToo) {
  EXPECT_THAT(decode(kPath, scalar("CrossEntropyLoss_output_0", 0.5F)).events,
              ElementsAre(AllOf(StartsWith("scalar 1700000000500000000 timed "
                                           "CrossEntropyLoss_output_0=0.500000 step=4 of 1 job//1"),
                                HasSubstr("kind=loss")),
                          StartsWith("tensor ")));
  EXPECT_THAT(decode(kPath, scalar("loss", NAN, 2)).events,
              ElementsAre(AllOf(HasSubstr("loss=nan"), HasSubstr("kind=validation_loss")),
                          StartsWith("tensor ")));
  EXPECT_THAT(decode_in_trial(scalar("objective", 1)).events,
              ElementsAre(StartsWith("scalar "), StartsWith("tensor ")));
  // No loss: of another name, a reduction, more than one element.
  EXPECT_THAT(decode(kPath, scalar("accuracy", 1)).events, ElementsAre(StartsWith("tensor ")));
  EXPECT_THAT(decode(kPath, scalar("smdebug/reductions/mean/loss", 1)).events,
              ElementsAre(StartsWith("tensor ")));
  EXPECT_THAT(
      decode(kPath, record("loss", 1, tensor_shape({2}) + content_of<float>({1, 2}))).events,
      ElementsAre(StartsWith("tensor ")));
}

// Numbers in the fields of their types, packed and not; TensorFlow leaves out a repeated last one.
TEST(TrialEvents, NumbersInFieldsOfTheirTypes) {
  std::string floats;
  {
    protozero::pbf_writer writer{floats};
    const float values[] = {2.5F, -1};
    writer.add_packed_float(5, std::begin(values), std::end(values));
  }
  EXPECT_THAT(decode(kPath, record("a", 1, tensor_shape({2}) + floats)).events,
              ElementsAre(HasSubstr(" [2,] 2 0 0 0 min=-0x1p+0 max=0x1.4p+1 ")));
  EXPECT_THAT(decode(kPath, record("a", 1, tensor_shape({4}) + floats)).events,
              ElementsAre(HasSubstr(" [4,] 4 0 0 0 min=-0x1p+0 max=0x1.4p+1 mean=-0x1p-3 ")));
  EXPECT_THAT(decode(kPath, record("a", 1, tensor_shape({1}) + floats)).rejects,
              ElementsAre("type"));
  std::string ints;
  protozero::pbf_writer{ints}.add_int32(7, -3);
  EXPECT_THAT(decode(kPath, record("a", 3, tensor_shape({}) + ints)).events,
              ElementsAre(HasSubstr(" [] 1 0 0 0 min=-0x1.8p+1 ")));
  std::string half;
  protozero::pbf_writer{half}.add_int32(13, 0xC000);
  EXPECT_THAT(decode(kPath, record("a", 19, tensor_shape({}) + half)).events,
              ElementsAre(HasSubstr(" [] 1 0 0 0 min=-0x1p+1 ")));
}

// However often the last one repeats, and whether it is a number.
TEST(TrialEvents, OneValueThatRepeats) {
  const auto shape = tensor_shape({1 << 20, 1 << 10});
  EXPECT_THAT(decode(kPath, record("a", 1, shape + content_of<float>({NAN}))).events,
              ElementsAre(HasSubstr(" [1048576,1024,] 1073741824 1073741824 0 0 ")));
  std::string floats;
  protozero::pbf_writer{floats}.add_float(5, 2.5F);
  EXPECT_THAT(decode(kPath, record("a", 1, shape + floats)).events,
              ElementsAre(HasSubstr(" 1073741824 0 0 0 min=0x1.4p+1 max=0x1.4p+1 mean=0x1.4p+1 ")));
}

TEST(TrialEvents, WhatHasNoNumbersIsPassedOver) {
  for (const int type : {7, 8, 18, 20, 99}) {
    const Outcome read = decode(kPath, record("t", type, tensor_content("12345678")));
    EXPECT_THAT(read.events, IsEmpty());
    EXPECT_THAT(read.rejects, IsEmpty());
    EXPECT_EQ(read.records, 1U);
  }
}

TEST(TrialEvents, AShapeThatDoesNotFitCostsItsRecord) {
  const std::string good = scalar("accuracy", 1);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{3}, {-2}, {1LL << 40, 1LL << 40}, {1LL << 62, 0}}) {
    const Outcome read =
        decode(kPath, record("a", 1, tensor_shape(shape) + content_of<float>({1, 2})) + good);
    EXPECT_THAT(read.rejects, ElementsAre("type"));
    EXPECT_THAT(read.events, SizeIs(1));
  }
}

std::vector<float> many(std::size_t count) {
  std::vector<float> numbers(count);
  std::mt19937 random{20261125};
  for (float& x : numbers) x = static_cast<float>(random() % 1000) * 0.01F;
  return numbers;
}

// A record that is read as it comes: the same tensor at any cut and after a restart; delivered only
// when its checksum has come.
TEST(TrialEvents, ALargeTensorAtAnyCut) {
  const std::string large = record("w", 1, tensor_shape({300, 200}) + content_of(many(60'000)));
  const std::string content = large + scalar("accuracy", 1);
  const Outcome whole = decode(kPath, content);
  ASSERT_THAT(whole.events, SizeIs(2));
  EXPECT_THAT(whole.rejects, IsEmpty());
  std::vector<std::size_t> cuts{content.size() - 3, large.size() - 4, large.size() - 1,
                                large.size()};
  for (std::size_t cut = 0; cut < 200; ++cut) cuts.push_back(cut);
  for (std::size_t cut = 200; cut < large.size(); cut += 9973) cuts.push_back(cut);
  for (std::size_t back = 0; back < 60; ++back) cuts.push_back(large.size() - back);
  for (const std::size_t cut : cuts) {
    for (const bool restart : {false, true}) {
      DecodeRun run{kPath};
      run.feed(std::string_view(content).substr(0, cut));
      EXPECT_EQ(run.events().size(), cut < large.size() ? 0U : 1U + (cut == content.size()));
      if (restart) run.restart();
      run.feed(std::string_view(content).substr(cut));
      ASSERT_EQ(run.finish(), whole) << cut;
      ASSERT_EQ(run.decoder().bytes().total(), content.size());
    }
  }
  DecodeRun bytewise{kPath};
  for (const char c : content) bytewise.feed({&c, 1});
  EXPECT_EQ(bytewise.finish(), whole);
}

TEST(TrialEvents, ALargeTensorWithItsOwnChecksumIsChecked) {
  std::string large = tf_record(event(
      1.7e9, 4, trial_value("w", 1, tensor_shape({60'000}) + content_of(many(60'000)), 1, 2)));
  EXPECT_THAT(decode(kPath, large).events, SizeIs(1));
  large[100'000] = static_cast<char>(large[100'000] ^ 1);
  const Outcome read = decode(kPath, large + scalar("accuracy", 1));
  EXPECT_THAT(read.events, SizeIs(1));
  EXPECT_THAT(read.rejects, ElementsAre("syntax"));
}

// A torn file keeps what is whole; every byte is accounted for.
TEST(TrialEvents, AnyTruncationCostsTheTornRecord) {
  const std::string one = record("w", 1, tensor_shape({3}) + content_of<float>({1, 2, 3}));
  const std::string content = one + one + one;
  for (std::size_t size = 0; size < content.size(); ++size) {
    DecodeRun run{kPath};
    run.feed(std::string_view(content).substr(0, size));
    const Outcome read = run.finish();
    EXPECT_EQ(read.events.size(), size / one.size()) << size;
    if (size > 22) {  // enough to know the format
      EXPECT_EQ(read.rejects.size(), size % one.size() == 0 ? 0U : 1U) << size;
      EXPECT_EQ(run.decoder().bytes().total(), size);
    }
  }
}

// The payloads have no checksum of their own, so that a flip may change a number or a name; it
// never costs another record than its own.
TEST(TrialEvents, AnyFlippedBitCostsAtMostItsRecord) {
  const std::string one = record("w", 1, tensor_shape({3}) + content_of<float>({1, 2, 3}));
  const std::string last = scalar("accuracy", 1);
  for (std::size_t at = 0; at < one.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string content = one + last;
      content[at] = static_cast<char>(content[at] ^ (1 << bit));
      const Outcome read = decode(kPath, content);
      ASSERT_EQ(read.format, "trial_events") << at;
      ASSERT_FALSE(read.events.empty()) << at << " " << bit;
      EXPECT_THAT(read.events.back(), HasSubstr("accuracy"));
      EXPECT_LE(read.events.size() + read.rejects.size(), 2U);
    }
  }
}

TEST(TensorEventReader, AnyBytesAreReadOrRefused) {
  std::mt19937 random{20261125};
  const std::string payload = event(
      1.7e9, 7, trial_value("w", 1, tensor_shape({2, 2}) + content_of<float>({1, 2, 3, 4}), 1, 2));
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = payload;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    damaged.resize(random() % 3 == 0 ? random() % damaged.size() : damaged.size());
    TensorEventReader whole;
    whole.begin(damaged.size(), true);
    whole.add(damaged);
    TensorEventReader pieces;
    pieces.begin(damaged.size(), true);
    for (const char& c : damaged) pieces.add({&c, 1});
    ASSERT_EQ(whole.end(), pieces.end());
    ASSERT_EQ(whole.has_numbers(), pieces.has_numbers());
    ASSERT_EQ(whole.tag(), pieces.tag());
    whole.plugin_number("mode");
  }
}

// A length's first byte is 0 for one record in 256, and those of gzip's for one in 65,536.
TEST(TrialEvents, ALengthMayLookLikeAHoleOrLikeGzip) {
  for (const std::size_t length : {512U, 0x8B1FU}) {
    std::string payload;
    for (std::size_t name = length; payload.size() != length; --name) {
      ASSERT_GT(name, 0U);
      std::string pad = tensor_shape({}) + content_of<float>({1});
      protozero::pbf_writer{pad}.add_string(8, std::string(name, 'x'));
      payload = event(1.7e9, 4, trial_value("w", 1, pad, 1, 2));
    }
    const Outcome read = decode(kPath, tf_record(payload, 0x062DC0B3U));
    EXPECT_EQ(read.format, "trial_events") << length;
    EXPECT_THAT(read.events, SizeIs(1));
    EXPECT_THAT(read.rejects, IsEmpty());
  }
}

TEST(TrialEvents, ATensorBoardFileIsNone) {
  const std::string content =
      tf_record(version_event(1.7e9)) + tf_record(event(1.7e9, 1, simple_value("loss", 1)));
  EXPECT_EQ(decode("/w/tensors/tensorboard/TRAIN/000000000004_12_host.tfevents", content).format,
            "tensorboard");
  EXPECT_EQ(decode(kPath, content).format, "tensorboard");
}

TEST(TrialPath, SaysTrialWorkerAndOrder) {
  EXPECT_EQ(trial_path_metadata(kPath).trial, "/w/job/tensors");
  EXPECT_EQ(trial_path_metadata(kPath).rank, 1);
  EXPECT_EQ(trial_path_metadata("/w/events/04/04_replica-0_task-1.tfevents.tmp").rank, kNoRank);
  EXPECT_EQ(trial_path_metadata("/w/runs/events.out.tfevents.17.host").trial, "");
  EXPECT_EQ(job_of(kPath, "/w", ""), "job/tensors");
  EXPECT_EQ(job_of("/w/events/000000000004/000000000004_worker_1.tfevents", "/w", "j"), "j");
  EXPECT_TRUE(is_trace_name("000000000004_worker_1.tfevents"));
  EXPECT_TRUE(is_trace_name("000000000004_worker_1.tfevents.tmp"));
  const FilePlace four = place_of(kPath);
  const FilePlace ten =
      place_of("/w/job/tensors/events/000000000010/000000000010_worker_1.tfevents");
  EXPECT_EQ(four.lane, ten.lane);
  EXPECT_LT(four.order, ten.order);
  EXPECT_NE(four.lane,
            place_of("/w/job/tensors/events/000000000010/000000000010_worker_0.tfevents").lane);
}

// What SageMaker Debugger itself has written.
TEST(TrialEvents, ReadsRealTrials) {
  const fs::path trials = source_path("../shared/data/sagemaker/trials");
  if (!fs::exists(trials)) GTEST_SKIP() << trials << " is absent";
  std::size_t tensors = 0;
  for (const auto& entry : fs::recursive_directory_iterator(trials)) {
    if (entry.path().extension() != ".tfevents") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    const Outcome read = decode(entry.path().string(), content);
    EXPECT_EQ(read.format, "trial_events") << entry.path();
    EXPECT_THAT(read.rejects, IsEmpty()) << entry.path();
    for (const std::string& line : read.events) tensors += line.starts_with("tensor ") ? 1 : 0;
  }
  EXPECT_GT(tensors, 300U);
}

}  // namespace trainwatch::testing::trial_events_test
