// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>

#include "decode_harness.h"
#include "pipeline/decode/event_file/crc32c.h"
#include "pipeline/decode/event_file/record_file.h"
#include "pipeline/decode/event_file/summary_event.h"
#include "pipeline/decode/scalar_tags.h"
#include "support/event_file_writer.h"
#include "support/source_path.h"

namespace trainwatch::testing::tensorboard_decoder_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPath = "/w/runs/a/events.out.tfevents.1700000000.host.1.0";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string begun() {
  return tf_record(version_event(1.7e9));
}

// The only number that a Summary has; NaN: it has none.
double number_in(const std::string& summary) {
  SummaryEvent read;
  const std::string payload = event(1.7e9, 1, summary);
  EXPECT_TRUE(read_summary_event(payload, read));
  return read.values.size() == 1 ? read.values.front().number : std::nan("");
}

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);  // the check value of the catalogue of CRCs
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(SummaryEvent, ReadsScalarsOfEveryType) {
  EXPECT_EQ(number_in(simple_value("a", 0.5F)), 0.5);
  EXPECT_TRUE(std::isinf(number_in(simple_value("a", std::numeric_limits<float>::infinity()))));
  EXPECT_EQ(number_in(tensor_value("a", 1, tensor_content(bytes_of(1.5F)))), 1.5);
  EXPECT_EQ(number_in(tensor_value("a", 2, tensor_content(bytes_of(0.1)))), 0.1);
  EXPECT_EQ(number_in(tensor_value("a", 3, tensor_content(bytes_of(std::int32_t{-3})))), -3);
  EXPECT_EQ(number_in(tensor_value("a", 9, tensor_content(bytes_of(std::int64_t{1} << 40)))),
            1LL << 40);
  EXPECT_EQ(number_in(tensor_value("a", 19, tensor_content(bytes_of(std::uint16_t{0x3C00})))), 1);
  EXPECT_EQ(number_in(tensor_value("a", 19, tensor_content(bytes_of(std::uint16_t{0x0001})))),
            std::ldexp(1, -24));
  EXPECT_EQ(number_in(tensor_value("a", 14, tensor_content(bytes_of(std::uint16_t{0x4040})))), 3);
}

TEST(SummaryEvent, ReadsFieldsPackedAndNot) {
  std::string packed;
  std::string single;
  {
    protozero::pbf_writer writer{packed};
    const float values[] = {2.5F};
    writer.add_packed_float(5, std::begin(values), std::end(values));
  }
  protozero::pbf_writer{single}.add_float(5, 2.5F);
  EXPECT_EQ(number_in(tensor_value("a", 1, packed)), 2.5);
  EXPECT_EQ(number_in(tensor_value("a", 1, single)), 2.5);
  std::string half;
  protozero::pbf_writer{half}.add_int32(13, 0xC000);
  EXPECT_EQ(number_in(tensor_value("a", 19, half)), -2);
}

TEST(SummaryEvent, PassesOverWhatIsNoScalar) {
  EXPECT_TRUE(std::isnan(number_in(tensor_value("text", 7, tensor_content("words")))));
  std::string matrix;
  {
    protozero::pbf_writer writer{matrix};
    protozero::pbf_writer shape{writer, 2};
    shape.add_message(2, std::string("\x08\x03"));
  }
  EXPECT_TRUE(std::isnan(number_in(tensor_value("m", 1, matrix + tensor_content(bytes_of(1.F))))));
}

TEST(SummaryEvent, AnyPayloadCutAnywhereIsReadOrRefused) {
  const std::string payload = event(1.7e9, 7, tensor_value("lr", 2, tensor_content(bytes_of(0.1))));
  SummaryEvent read;
  for (std::size_t cut = 0; cut < payload.size(); ++cut) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = payload;
      damaged[cut] = static_cast<char>(damaged[cut] ^ (1 << bit));
      read_summary_event(damaged, read);
    }
    read_summary_event(std::string_view(payload).substr(0, cut), read);
  }
}

TEST(TensorBoard, ScalarsHaveTimeStepAndMeaning) {
  const Outcome read =
      decode(kPath, begun() + tf_record(event(1.7e9 + 0.25, 5, simple_value("train/loss", 2))));
  EXPECT_EQ(read.format, "tensorboard");
  EXPECT_THAT(
      read.events,
      ElementsAre(HasSubstr("scalar 1700000000250000000 timed train/loss=2.000000 step=5 of 1")));
  EXPECT_THAT(read.events.front(), HasSubstr("kind=loss"));
}

TEST(TensorBoard, ARateIsTheMeanSinceTheLastRecord) {
  const Outcome read =
      decode(kPath, begun() + tf_record(event(1.7e9, 10, simple_value("iteration-time", 1))) +
                        tf_record(event(1.7e9, 60, simple_value("iteration-time", 1))));
  EXPECT_THAT(read.events, ElementsAre(HasSubstr("step=10 of 2"), HasSubstr("step=60 of 50")));
}

TEST(TensorBoard, AnyFlippedByteCostsOneRecord) {
  std::string content = begun();
  const std::size_t first = content.size();
  for (int step = 0; step < 4; ++step) {
    content += tf_record(event(1.7e9 + step, step, simple_value("loss", 1)));
  }
  for (std::size_t at = first; at < content.size(); ++at) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(~damaged[at]);
    const Outcome read = decode(kPath, damaged);
    EXPECT_EQ(read.events.size(), 3U) << at;
    EXPECT_EQ(read.rejects.size(), 1U) << at;
  }
}

TEST(TensorBoard, ALongRecordIsPassedOver) {
  const std::string graph(RecordFileSplitter::kMaxPayload + 1, 'x');  // of a Keras model
  const std::string loss = tf_record(event(1.7e9, 1, simple_value("loss", 1)));
  const std::string content = begun() + tf_record(graph) + loss;
  const Outcome read = decode(kPath, content);
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_TRUE(read.rejects.empty());
  EXPECT_EQ(read.records, 3U);
  const std::size_t from = begun().size();
  for (const std::size_t cut :
       {from + 5, from + 12, from + 13, from + 500'000, content.size() - loss.size() - 4,
        content.size() - loss.size() - 1, content.size() - loss.size() + 3}) {
    for (const bool restart : {false, true}) {
      DecodeRun run{kPath};
      run.feed(std::string_view(content).substr(0, cut));
      if (restart) run.restart();
      run.feed(std::string_view(content).substr(cut));
      EXPECT_EQ(run.finish(), read) << cut;
      EXPECT_EQ(run.decoder().bytes().total(), content.size());
    }
  }
}

TEST(TensorBoard, ALongRecordWithAWrongChecksumCostsItself) {
  std::string graph = tf_record(std::string(RecordFileSplitter::kMaxPayload + 1, 'x'));
  graph[700'000] = 'y';
  const Outcome read =
      decode(kPath, begun() + graph + tf_record(event(1.7e9, 1, simple_value("loss", 1))));
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_THAT(read.rejects, ElementsAre("syntax"));
}

TEST(TensorBoard, ADamagedFirstRecordHidesNoFile) {
  const std::string loss = tf_record(event(1.7e9, 1, simple_value("loss", 1)));
  for (std::size_t at = 0; at < begun().size(); ++at) {
    std::string content = begun() + loss + loss;
    content[at] = static_cast<char>(~content[at]);
    const Outcome read = decode(kPath, content);
    EXPECT_EQ(read.format, "tensorboard") << at;
    EXPECT_EQ(read.events.size(), 2U) << at;
    EXPECT_EQ(read.rejects.size(), 1U) << at;
  }
}

TEST(SummaryEvent, ReadsSmallIntegersAndBooleans) {
  EXPECT_EQ(number_in(tensor_value("a", 4, tensor_content(bytes_of(std::uint8_t{200})))), 200);
  EXPECT_EQ(number_in(tensor_value("a", 6, tensor_content(bytes_of(std::int8_t{-7})))), -7);
  EXPECT_EQ(number_in(tensor_value("a", 5, tensor_content(bytes_of(std::int16_t{-300})))), -300);
  EXPECT_EQ(number_in(tensor_value("a", 17, tensor_content(bytes_of(std::uint16_t{60000})))),
            60000);
  EXPECT_EQ(number_in(tensor_value("a", 10, tensor_content(bytes_of(std::uint8_t{1})))), 1);
  std::string boolean;
  protozero::pbf_writer{boolean}.add_bool(11, true);
  EXPECT_EQ(number_in(tensor_value("a", 10, boolean)), 1);
}

TEST(TensorBoard, TagsOfAFileAreBounded) {
  std::string content = begun();
  for (int tag = 0; tag < 300; ++tag) {
    content += tf_record(event(1.7e9, 1, simple_value("tag" + std::to_string(tag), 1)));
  }
  const Outcome read = decode(kPath, content);
  EXPECT_EQ(read.events.size(), 256U);
  EXPECT_THAT(read.rejects, ElementsAre("cardinality"));
}

// Keras's two halves are one job, and each has an "epoch_loss".
TEST(ScalarTags, OfKerasValidationHaveANameOfTheirOwn) {
  EXPECT_EQ(name_in_job("epoch_loss", "/w/train/events.out.tfevents.1.vm.1.2.v2"), "epoch_loss");
  EXPECT_EQ(name_in_job("epoch_loss", "/w/validation/events.out.tfevents.1.vm.1.2.v2"),
            "validation/epoch_loss");
}

TEST(ScalarTags, EvaluationIsNoTraining) {
  EXPECT_EQ(meaning_of_tag("Loss", "/w/x").kind, ScalarKind::loss);
  EXPECT_EQ(meaning_of_tag("train/loss", "/w/x").kind, ScalarKind::loss);
  EXPECT_EQ(meaning_of_tag("eval/loss", "/w/x").kind, ScalarKind::validation_loss);
  EXPECT_EQ(meaning_of_tag("val_loss", "/w/x").kind, ScalarKind::validation_loss);
  EXPECT_EQ(meaning_of_tag("epoch_loss", "/w/train/x").kind, ScalarKind::loss);
  EXPECT_EQ(meaning_of_tag("epoch_loss", "/w/validation/x").kind, ScalarKind::validation_loss);
  EXPECT_EQ(meaning_of_tag("eval/lr", "/w/x").kind, ScalarKind::other);
  EXPECT_EQ(meaning_of_tag("lr-AdamW/pg1", "/w/x").kind, ScalarKind::learning_rate);
  EXPECT_DOUBLE_EQ(meaning_of_tag("mfu(%)", "/w/x").scale, 0.01);
}

// The losses that a logger was given, from its truth in tests/data/recorded-logs.
std::vector<double> losses_given(const std::string& logger) {
  const std::string truth =
      text_of(source_path("tests/data/recorded-logs/" + logger + ".truth.json"));
  std::vector<double> losses;
  const std::regex loss(R"("loss": ([-+.e\d]+))");
  for (auto it = std::sregex_iterator(truth.begin(), truth.end(), loss);
       it != std::sregex_iterator(); ++it)
    losses.push_back(std::stod((*it)[1]));
  return losses;
}

// Those that were read from the only event file below `folder`.
std::vector<double> losses_read(const std::string& folder, std::string_view tag) {
  std::vector<double> losses;
  for (const auto& entry :
       fs::recursive_directory_iterator(source_path("tests/data/recorded-logs/" + folder))) {
    if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
    const Outcome read = decode(entry.path().string(), text_of(entry.path()));
    EXPECT_EQ(read.format, "tensorboard");
    EXPECT_TRUE(read.rejects.empty()) << entry.path();
    for (const std::string& line : read.events) {
      const std::size_t found = line.find(" " + std::string(tag) + "=");
      if (found != std::string::npos)
        losses.push_back(std::stod(line.substr(found + tag.size() + 2)));
    }
  }
  return losses;
}

TEST(TensorBoard, ReadsWhatRealWritersWrite) {
  const std::vector<std::pair<std::string, std::string>> kWriters = {
      {"tensorboardx", "train/loss"}, {"torch_summary", "train/loss"},
      {"tf_summary", "loss"},         {"flax_summary", "train_loss"},
      {"clu_summary", "loss"},        {"hf_trainer", "train/loss"}};
  for (const auto& [writer, tag] : kWriters) {
    SCOPED_TRACE(writer);
    const std::vector<double> given = losses_given(writer);
    const std::vector<double> read = losses_read(writer, tag);
    ASSERT_EQ(read.size(), given.size());
    for (std::size_t i = 0; i < read.size(); ++i)
      EXPECT_NEAR(read[i], given[i], 1e-6 + 1e-6 * given[i]);
  }
  EXPECT_EQ(losses_read("keras_tensorboard/train", "epoch_loss").size(),
            losses_given("keras_tensorboard").size());
}

}  // namespace trainwatch::testing::tensorboard_decoder_test
