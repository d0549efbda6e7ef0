// SPDX-License-Identifier: Apache-2.0
// Bytes may be cut anywhere: the outcome is the same. And a decoder may be replaced, between any
// two bytes, by one that knows only the saved state.
#include <gtest/gtest.h>

#include <random>

#include "decode_harness.h"
#include "samples.h"

namespace trainwatch::testing::split_test {

Outcome in_two(const SampleFile& file, std::string_view content, std::size_t cut, bool restart) {
  DecodeRun run{file.path};
  run.feed(content.substr(0, cut));
  if (restart) run.restart();
  run.feed(content.substr(cut));
  return run.finish();
}

void expect_same_at_every_cut(const SampleFile& file, std::string_view content) {
  SCOPED_TRACE(file.name);
  const Outcome whole = decode(file.path, content);
  ASSERT_FALSE(whole.events.empty());
  for (std::size_t cut = 0; cut <= content.size(); ++cut) {
    ASSERT_EQ(in_two(file, content, cut, false), whole) << "cut at " << cut;
  }
  DecodeRun bytewise{file.path};
  for (const char c : content) bytewise.feed({&c, 1});
  EXPECT_EQ(bytewise.finish(), whole);
}

TEST(Split, EveryCutGivesTheSame) {
  for (const SampleFile& file : sample_files()) expect_same_at_every_cut(file, file.content);
}

TEST(Split, EveryCutOfCompressedFilesGivesTheSame) {
  for (SampleFile file : sample_files()) {
    file.path += ".gz";
    expect_same_at_every_cut(file, gzip(file.content));
  }
}

TEST(Split, CompressedGivesTheSameAsPlain) {
  for (const SampleFile& file : sample_files()) {
    EXPECT_EQ(decode(file.path, gzip(file.content)), decode(file.path, file.content)) << file.name;
  }
}

TEST(Restart, EveryCutGivesTheSame) {
  for (const SampleFile& file : sample_files()) {
    const Outcome whole = decode(file.path, file.content);
    for (std::size_t cut = 0; cut <= file.content.size(); ++cut) {
      ASSERT_EQ(in_two(file, file.content, cut, true), whole) << file.name << " at " << cut;
    }
  }
}

TEST(Restart, CompressedFilesGoOnInTheMiddleOfAMember) {
  for (const SampleFile& file : sample_files()) {
    const std::string packed = gzip(file.content);
    const Outcome whole = decode(file.path, packed);
    for (std::size_t cut = 0; cut <= packed.size(); cut += 7) {
      ASSERT_EQ(in_two(file, packed, cut, true), whole) << file.name << " at " << cut;
    }
  }
}

// A record that lacks a quote may swallow others until the input ends: they are read only then.
TEST(Restart, BeforeTheEndOfADamagedFileGivesTheSame) {
  for (const SampleFile& file : sample_files()) {
    for (std::size_t quote = file.content.find('"'); quote != std::string::npos;
         quote = file.content.find('"', quote + 1)) {
      std::string damaged = file.content;
      damaged.erase(quote, 1);
      DecodeRun run{file.path};
      run.feed(damaged);
      run.restart();
      ASSERT_EQ(run.finish(), decode(file.path, damaged))
          << file.name << " without the quote at " << quote;
    }
  }
}

// As far as it can be: what is held until the end of a document is then known as far as it was
// read.
TEST(Pause, AFileThatSeemedFinishedGoesOn) {
  for (const SampleFile& file : sample_files()) {
    Outcome whole = decode(file.path, file.content);
    const bool held = whole.format == "chrome_trace";
    const auto without_notes = [](Outcome& outcome) {
      std::erase_if(outcome.events, [](const std::string& event) { return event[0] == 'n'; });
    };
    without_notes(whole);
    for (const bool restart : {false, true}) {
      for (std::size_t cut = 0; cut <= file.content.size(); ++cut) {
        SCOPED_TRACE(file.name + " at " + std::to_string(cut) + (restart ? ", restart" : ""));
        DecodeRun run{file.path};
        run.feed(std::string_view{file.content}.substr(0, cut));
        run.finish();
        if (restart) run.restart();
        run.feed(std::string_view{file.content}.substr(cut));
        Outcome paused = run.finish();
        without_notes(paused);
        if (!held) {
          ASSERT_EQ(paused.events, whole.events);
        }
        ASSERT_EQ(paused.events.size(), whole.events.size());
        ASSERT_EQ(paused.records, whole.records);
        ASSERT_EQ(run.decoder().bytes().total(), file.content.size());
      }
    }
  }
}

// What the end of a damaged file made records of is not read twice.
TEST(Pause, OfADamagedFileEveryByteIsAccountedForOnce) {
  std::mt19937 random{20261124};
  for (const SampleFile& file : sample_files()) {
    for (std::size_t quote = file.content.find('"'); quote != std::string::npos;
         quote = file.content.find('"', quote + 1)) {
      std::string damaged = file.content;
      damaged.erase(quote, 1);
      const std::size_t records = decode(file.path, damaged).records;
      for (int round = 0; round < 20; ++round) {
        const std::size_t cut = random() % damaged.size();
        SCOPED_TRACE(file.name + " without the quote at " + std::to_string(quote) + ", cut at " +
                     std::to_string(cut));
        DecodeRun run{file.path};
        run.feed(std::string_view{damaged}.substr(0, cut));
        run.finish();
        if (round % 2 == 0) run.restart();
        run.feed(std::string_view{damaged}.substr(cut));
        const Outcome paused = run.finish();
        ASSERT_EQ(run.decoder().bytes().total(), damaged.size());
        ASSERT_LE(paused.records, records + 2);
      }
    }
  }
}

TEST(Restart, ManyRandomCutsAndRestarts) {
  std::mt19937 random{20261121};
  for (const SampleFile& file : sample_files()) {
    const Outcome whole = decode(file.path, file.content);
    for (int round = 0; round < 50; ++round) {
      DecodeRun run{file.path};
      std::string_view rest = file.content;
      while (!rest.empty()) {
        const std::size_t size = std::min<std::size_t>(rest.size(), random() % 97 + 1);
        run.feed(rest.substr(0, size));
        rest.remove_prefix(size);
        if (random() % 3 == 0) run.restart();
      }
      ASSERT_EQ(run.finish(), whole) << file.name << " round " << round;
    }
  }
}

TEST(Restart, DamagedStateIsRefusedAndHarmless) {
  for (const SampleFile& file : sample_files()) {
    DecodeRun run{file.path};
    run.feed(std::string_view{file.content}.substr(0, file.content.size() / 2));
    StateIo saving = StateIo::saving();
    run.decoder().state(saving);
    const std::string good = saving.take();
    for (std::size_t length = 0; length < good.size(); ++length) {
      StateIo loading = StateIo::loading(std::string_view{good}.substr(0, length));
      DecodeRun{file.path}.decoder().state(loading);
      EXPECT_FALSE(loading.complete());
    }
  }
}

}  // namespace trainwatch::testing::split_test
