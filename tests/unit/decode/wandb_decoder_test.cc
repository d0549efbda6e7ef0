// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "decode_harness.h"
#include "run_note_reading.h"
#include "samples.h"
#include "support/source_path.h"
#include "support/wandb_file_writer.h"

namespace trainwatch::testing::wandb_decoder_test {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPath = "/w/wandb/run-1/run-abc.wandb";
constexpr std::size_t kBlock = 32768;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Wandb, TheSample) {
  const Outcome read = decode(kPath, wandb_sample());
  EXPECT_EQ(read.format, "wandb");
  EXPECT_THAT(
      read.events,
      ElementsAre("scalar 1700000000500000000 timed train/loss=2.500000 step=1 of 1 job//-1/ "
                  "kind=loss",
                  "scalar 1700000000000000000 timed lr=0.500000 step=2 of 1 job//-1/ "
                  "kind=learning_rate",
                  "scalar 0 loss=nan step=3 of 1 job//-1/ kind=loss",
                  HasSubstr("sample 1700000001250000000 81.500000 job/node-a/-1/1 "
                            "gpu/gpu1/GPUUtilization"),
                  HasSubstr("sample 1700000001250000000 10.000000 job/node-a/-1/ "
                            "memory/MemoryUsedPercent/MemoryUsedPercent")));
  EXPECT_THAT(read.rejects, ElementsAre("time", "syntax"));
  EXPECT_EQ(read.records, 6U);
}

// Chunks fill blocks to the end, records are cut there, and fewer than seven bytes are padding.
std::string write_blocks(int records) {
  std::string file = wandb_header();
  for (int step = 0; step < records; ++step) {
    std::string rest = wandb_history(
        {{"loss", "1.5"}, {"_step", std::to_string(step)}, {"pad", std::string(step % 97, '1')}});
    for (bool first = true; first || !rest.empty(); first = false) {
      std::size_t left = kBlock - file.size() % kBlock;
      if (left < 7) file.append(left, '\0');
      if (left < 7) left = kBlock;
      const std::string data = rest.substr(0, left - 7);
      rest.erase(0, data.size());
      const WandbChunk whole = first ? WandbChunk::full : WandbChunk::last;
      file += wandb_chunk(data, rest.empty() ? whole
                                : first      ? WandbChunk::first
                                             : WandbChunk::middle);
    }
  }
  return file;
}

std::size_t losses(const Outcome& read) {
  return static_cast<std::size_t>(std::ranges::count_if(read.events, [](const std::string& event) {
    return event.find(" loss=1.5") != std::string::npos;
  }));
}

TEST(Wandb, RecordsGoOnInTheNextBlock) {
  const std::string file = write_blocks(3000);
  ASSERT_GT(file.size(), 5 * kBlock);
  const Outcome read = decode(kPath, file);
  EXPECT_EQ(losses(read), 3000U);
  EXPECT_THAT(read.rejects, IsEmpty());
  DecodeRun run{kPath};
  for (std::size_t at = 0; at < file.size(); at += 1000) run.feed(file.substr(at, 1000));
  EXPECT_EQ(run.finish(), read);
  EXPECT_EQ(run.decoder().bytes().total(), file.size());
}

TEST(Wandb, DamageCostsOneBlock) {
  const std::string file = write_blocks(3000);
  std::string damaged = file;
  damaged[kBlock + 100] ^= 1;
  const Outcome read = decode(kPath, damaged);
  EXPECT_THAT(read.rejects, ElementsAre("syntax"));
  EXPECT_LT(losses(read), 3000U);
  const auto steps_behind = [&](const std::vector<std::string>& events) {
    return std::ranges::count_if(events, [](const std::string& event) {
      return event.find(" step=2999 ") != std::string::npos;
    });
  };
  EXPECT_EQ(steps_behind(read.events), 2);  // "loss" and "pad"
}

TEST(Wandb, ATornFileWaits) {
  const std::string file = wandb_header() + wandb_chunk(wandb_history({{"loss", "1.5"}}));
  for (std::size_t size = 7; size < file.size(); ++size) {
    DecodeRun run{kPath};
    run.feed(file.substr(0, size));
    EXPECT_THAT(run.events(), IsEmpty());
    run.feed(file.substr(size));
    EXPECT_EQ(losses(run.finish()), 1U);
  }
}

TEST(Wandb, AnyPayloadIsReadOrRefused) {
  const std::string payload = wandb_stats(1, 2, {{"gpu.0.gpu", "1"}});
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = payload;
      damaged[at] = static_cast<char>(byte);
      decode(kPath, wandb_header() + wandb_chunk(damaged));
    }
  }
}

// The numbers behind "KEY": in the order of the file.
std::vector<double> truth(const std::string& key) {
  const std::string text = content_of(source_path("tests/data/recorded-logs/wandb.truth.json"));
  std::vector<double> numbers;
  const std::string name = '"' + key + "\": ";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    numbers.push_back(std::strtod(text.c_str() + at + name.size(), nullptr));
  }
  return numbers;
}

TEST(Wandb, ARunThatHasEndedSaysSo) {
  const std::string history =
      wandb_chunk(wandb_history({{"loss", "2"}, {"_step", "1"}, {"_timestamp", "1.7e9"}}));
  const std::string exit = wandb_chunk(wandb_record(18, ""));
  const Outcome read = decode(kPath, wandb_header() + history + exit);
  ASSERT_EQ(read.events.size(), 2U);
  EXPECT_THAT(read.events[1], HasSubstr("note 1 "));  // timeline_closed
  EXPECT_THAT(read.events[1], HasSubstr(" at 1700000000000000000"));
  EXPECT_THAT(decode(kPath, wandb_header() + exit).events, IsEmpty()) << "nothing was logged";
}

TEST(Wandb, ARunSaysItsExitCode) {
  const std::string history = wandb_chunk(wandb_history({{"loss", "1"}, {"_timestamp", "1.7e9"}}));
  const auto notes = [&history](const std::string& code) {
    return notes_of(wandb_header() + history + wandb_chunk(wandb_record(18, code)),
                    time_from_ns(1'700'000'060'000'000'000), kPath);
  };
  EXPECT_THAT(notes(""), ElementsAre("completed 22:14:20"));
  EXPECT_THAT(notes(std::string{"\x08\x01", 2}), ElementsAre("exception/ended code 1 22:14:20"));
  EXPECT_THAT(notes(std::string{"\x08\x89\x01", 3}),
              ElementsAre("signal/ended signal 9 code 137 22:14:20"));
}

// From 0.27 on of the cgroup; in shared mode keys have the label of their writer.
TEST(Wandb, SystemMetricsOfAnyVersion) {
  const std::string stats =
      wandb_chunk(wandb_stats(1'700'000'001, 0,
                              {{"memory_percent/l:rank-1", "10"},
                               {"gpu.0.smClock/l:rank-1", "1980"},
                               {"gpu.0.memoryClock", "2619"},
                               {"gpu.0.uncorrectedMemoryErrors", "2"},
                               {"gpu.0.smActive", "0.5"},
                               {"gpu.0.memoryAllocatedBytes/l:rank-1", "270598144"},
                               {"gpu.0.enforcedPowerLimitWatts", "700"}}));
  const auto events = [&stats](const std::string& version) {
    return decode(kPath, wandb_header() + wandb_chunk(wandb_version(version)) +
                             wandb_chunk(wandb_run("a")) + stats)
        .events;
  };
  EXPECT_THAT(events("0.27.0"),
              ElementsAre(HasSubstr("10.000000 job/a/-1/ cgroup/MemoryUsedPercent"),
                          HasSubstr("1980.000000 job/a/-1/0 gpu/gpu0/GPUSmClock"),
                          HasSubstr("2619.000000 job/a/-1/0 gpu/gpu0/GPUMemoryClock"),
                          HasSubstr("2.000000 job/a/-1/0 gpu/gpu0/GPUEccErrors")));
  for (const char* const version : {"1.0.0", "0.31.0+15f8cbc"}) {
    EXPECT_THAT(events(version).front(), HasSubstr(" cgroup/")) << version;
  }
  for (const char* const version : {"0.26.9", "", "words", "0."}) {
    EXPECT_THAT(events(version).front(), HasSubstr(" memory/")) << version;
  }
}

TEST(Wandb, WhatARealRunRecordedIsWhatWasTrained) {
  fs::path path;
  for (const auto& entry :
       fs::recursive_directory_iterator(source_path("tests/data/recorded-logs/wandb"))) {
    if (entry.path().extension() == ".wandb") path = entry.path();
  }
  DecodeRun run{path.string()};
  run.feed(content_of(path));
  const Outcome read = run.finish();
  EXPECT_THAT(read.rejects, IsEmpty());
  std::size_t memory = 0;
  for (const auto& [tag, key, kind] : {std::tuple("train/loss", "loss", ScalarKind::loss),
                                       {"lr", "lr", ScalarKind::learning_rate}}) {
    const std::vector<double> values = truth(key);
    const std::vector<double> times = truth("at");
    std::size_t seen = 0;
    memory = 0;
    for (const Event& event : run.raw_events()) {
      if (std::holds_alternative<Sample>(event)) ++memory;
      const auto* const scalar = std::get_if<Scalar>(&event);
      if (scalar == nullptr || run.interner().text(scalar->tag) != tag) continue;
      ASSERT_LT(seen, values.size());
      EXPECT_EQ(scalar->value, values[seen]);
      EXPECT_EQ(scalar->step, static_cast<std::int64_t>(seen));
      EXPECT_EQ(scalar->kind, kind);
      EXPECT_NEAR(to_seconds(scalar->at), times[seen], 0.5);
      ++seen;
    }
    EXPECT_EQ(seen, values.size());
    EXPECT_GT(seen, 0U);
  }
  EXPECT_GT(memory, 0U);
  EXPECT_THAT(read.events, Contains(HasSubstr("job/vm/-1/ cgroup/MemoryUsedPercent")));
}

}  // namespace trainwatch::testing::wandb_decoder_test
