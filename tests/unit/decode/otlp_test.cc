// SPDX-License-Identifier: Apache-2.0
// What a training says in OpenTelemetry's JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "decode_harness.h"
#include "pipeline/decode/run_naming.h"
#include "run_note_reading.h"
#include "samples.h"

namespace trainwatch::testing::otlp_test {

using Lines = std::vector<std::string>;

constexpr const char* kPath = "/w/otel/traces.jsonl";

std::string attribute(const std::string& key, const std::string& value) {
  return R"({"key":")" + key + R"(","value":{)" + value + "}}";
}
std::string integer(const std::string& key, int value) {
  return attribute(key, R"("intValue":")" + std::to_string(value) + '"');
}
std::string text(const std::string& key, const std::string& value) {
  return attribute(key, R"("stringValue":")" + value + '"');
}

// Milliseconds behind 2023-11-14 22:13:20 UTC.
std::string at(int ms) {
  return '"' + std::to_string(1'700'000'000'000 + ms) + R"(000000")";
}

std::string span(const std::string& name, int from_ms, int to_ms,
                 const std::string& attributes = "") {
  return R"({"name":")" + name + R"(","startTimeUnixNano":)" + at(from_ms) +
         R"(,"endTimeUnixNano":)" + at(to_ms) + R"(,"attributes":[)" + attributes + "]}";
}
std::string step(int number, int from_ms) {
  return span("megatron.train.iteration", from_ms, from_ms + 100,
              integer("megatron.iteration", number));
}

// A line with the spans of one process.
std::string traces(const std::string& resource, const std::vector<std::string>& spans) {
  std::string list;
  for (const std::string& each : spans) list += (list.empty() ? "" : ",") + each;
  return R"({"resourceSpans":[{"resource":{"attributes":[)" + resource +
         R"(]},"scopeSpans":[{"spans":[)" + list + "]}]}]}\n";
}
std::string metrics(const std::string& list) {
  return R"({"resourceMetrics":[{"resource":{"attributes":[)" + integer("dl.rank", 3) +
         R"(]},"scopeMetrics":[{"metrics":[)" + list + "]}]}]}\n";
}
std::string counter(const std::string& name, int ms, int value, int temporality = 2) {
  return R"({"name":")" + name + R"(","sum":{"isMonotonic":true,"aggregationTemporality":)" +
         std::to_string(temporality) + R"(,"dataPoints":[{"startTimeUnixNano":)" + at(0) +
         R"(,"timeUnixNano":)" + at(ms) + R"(,"asInt":")" + std::to_string(value) + "\"}]}}";
}
std::string histogram(int start_ms, int ms, int count, int sum, int temporality) {
  return R"({"name":"megatron.training.step_duration_ms","histogram":{"aggregationTemporality":)" +
         std::to_string(temporality) + R"(,"dataPoints":[{"startTimeUnixNano":)" + at(start_ms) +
         R"(,"timeUnixNano":)" + at(ms) + R"(,"count":")" + std::to_string(count) + R"(","sum":)" +
         std::to_string(sum) + "}]}}";
}

// Of each scalar tag, value, step and steps.
Lines scalars(const std::string& content) {
  DecodeRun run{kPath};
  run.feed(content);
  EXPECT_TRUE(run.finish().rejects.empty());
  Lines lines;
  for (const Event& event : run.raw_events()) {
    const auto* const scalar = std::get_if<Scalar>(&event);
    if (scalar == nullptr) continue;
    EXPECT_TRUE(scalar->timed);
    std::array<char, 32> value{};
    std::snprintf(value.data(), value.size(), "%.6g", scalar->value);
    lines.push_back(std::string{to_string(scalar->kind)} + "=" + value.data() + " " +
                    std::string{run.interner().text(scalar->tag)} + " " +
                    std::to_string(scalar->step) + "/" + std::to_string(scalar->steps));
  }
  return lines;
}

std::vector<SpanKind> kinds(const std::string& content) {
  DecodeRun run{kPath};
  run.feed(content);
  EXPECT_TRUE(run.finish().rejects.empty());
  std::vector<SpanKind> all;
  for (const Event& event : run.raw_events()) {
    if (const auto* const each = std::get_if<Span>(&event)) all.push_back(each->kind);
  }
  return all;
}

TEST(Otlp, TheSample) {
  const Outcome outcome = decode(kPath, kOtlp);
  EXPECT_EQ(outcome.format, "otlp");
  EXPECT_EQ(outcome.records, 3U);
  EXPECT_EQ(outcome.rejects, (Lines{"time", "time", "syntax"}));
  const auto has = [&outcome](const std::string& part) {
    return std::ranges::any_of(outcome.events, [&part](const std::string& event) {
      return event.find(part) != std::string::npos;
    });
  };
  EXPECT_EQ(outcome.events.size(), 11U);
  EXPECT_TRUE(has("span 1700000005000000000 +250000000 step=7 job/node-a/1/"));
  EXPECT_TRUE(
      has("scalar 1700000006000000001 timed lm loss=2.500000 step=8 of 1 job//2/ kind=loss"));
  EXPECT_TRUE(has("learning_rate=nan step=8 of 1 job//2/ kind=learning_rate"));
  EXPECT_TRUE(has("step_duration_ms=0.250000 step=-1 of 4 job//1/ kind=step_seconds"));
  EXPECT_TRUE(has("step_duration_ms=0.500000 step=-1 of 2 job//1/ kind=step_seconds"));
  EXPECT_TRUE(has("skipped_iters=3.000000"));
  EXPECT_TRUE(has("queue{of=x}=5.000000 step=-1 of 1 job//1/ kind=other"));
}

TEST(Otlp, WhatLiesInsideAnotherSpanCountsOnce) {
  const std::string old =
      traces(integer("dl.rank", 0),
             {step(1, 0), span("megatron.train.first_iteration", 0, 110),
              span("megatron.train.gc_collect", 110, 120),
              span("megatron.checkpoint.save.state_dict", 130, 140),
              span("megatron.checkpoint.save", 125, 150), span("megatron.evaluate", 150, 160)});
  EXPECT_EQ(kinds(old), (std::vector{SpanKind::step, SpanKind::other, SpanKind::garbage_collection,
                                     SpanKind::other, SpanKind::checkpoint, SpanKind::evaluation}));
  const std::string newer =
      traces(integer("nv.dl.rank", 0) + "," + text("nv.dl.role", "trainer"),
             {span("nv.dl.training.iteration.forward_backward", 0, 80),
              span("nv.dl.training.iteration.optimizer_step", 80, 90),
              span("nv.dl.training.iteration", 0, 100, integer("nv.dl.training.step", 1)),
              span("nv.dl.training.checkpoint.save", 110, 120),
              span("nv.dl.training.checkpoint.exposed_save", 105, 130)});
  EXPECT_EQ(kinds(newer), (std::vector{SpanKind::forward, SpanKind::optimizer, SpanKind::step,
                                       SpanKind::other, SpanKind::checkpoint}));
}

// A process that writes checkpoints for a trainer has the rank of that.
TEST(Otlp, HelpersHaveNoSteps) {
  EXPECT_EQ(kinds(traces(integer("nv.dl.rank", 0) + "," + text("nv.dl.role", "ckpt_worker"),
                         {step(1, 0)})),
            std::vector{SpanKind::other});
}

TEST(Otlp, AProcessBeginsWithItsStartup) {
  const std::string rank =
      integer("dl.rank", 3) + "," + integer("dl.world_size", 8) + "," + text("host.name", "n");
  const std::string content =
      traces(rank, {span("megatron.checkpoint.load.io_read", 2000, 3000),
                    span("megatron.checkpoint.load", 2000, 5000),
                    span("megatron.startup.model_init", 1000, 6000),
                    span("megatron.startup.dataloader", 6000, 7000), step(1, 8000)}) +
      traces(rank, {span("megatron.startup.imports", 60000, 61000), step(1, 62000)});
  const Lines expected{"process_began of 8 22:13:21", "restored 3.00 s 22:13:25",
                       "process_began of 8 22:14:20"};
  EXPECT_EQ(notes_of(content, {}, kPath), expected);
  for (std::size_t cut = 0; cut < content.size(); cut += 13) {
    NoteRun run{kPath};
    run.feed(std::string_view{content}.substr(0, cut));
    run.restart();
    run.feed(std::string_view{content}.substr(cut));
    run.finish();
    ASSERT_EQ(run.notes(), expected) << cut;
  }
}

// Else each training that is over would seem to stand still.
TEST(Otlp, TheLastCheckpointEndsTheTraining) {
  for (const char* name :
       {"megatron.checkpoint.exit_finalize", "nv.mlm.checkpoint.exit_finalize"}) {
    const Outcome outcome =
        decode(kPath, traces(integer("dl.rank", 0), {step(1, 0), span(name, 200, 300)}));
    ASSERT_EQ(outcome.events.size(), 3U);
    EXPECT_EQ(outcome.events[1], "note 1 lane=3 at 1700000000300000000");
  }
}

TEST(Otlp, DurationsOfBothTemporalities) {
  EXPECT_EQ(scalars(metrics(histogram(0, 1000, 10, 2000, 2)) +
                    metrics(histogram(0, 2000, 10, 2000, 2)) +  // nothing new
                    metrics(histogram(0, 3000, 14, 4000, 2)) +
                    metrics(histogram(3500, 4000, 1, 300, 2))),  // another process
            (Lines{"step_seconds=0.2 megatron.training.step_duration_ms -1/10",
                   "step_seconds=0.5 megatron.training.step_duration_ms -1/4",
                   "step_seconds=0.3 megatron.training.step_duration_ms -1/2"}));
  EXPECT_EQ(scalars(metrics(histogram(0, 1000, 10, 2000, 1)) +
                    metrics(histogram(1000, 2000, 2, 1000, 1))),
            (Lines{"step_seconds=0.2 megatron.training.step_duration_ms -1/10",
                   "step_seconds=0.5 megatron.training.step_duration_ms -1/2"}));
}

// What was counted before the file was begun was reported before.
TEST(Otlp, CountersSayWhatIsNew) {
  const std::string skipped = "megatron.training.skipped_iters";
  EXPECT_EQ(scalars(metrics(counter(skipped, 1000, 7)) + metrics(counter(skipped, 2000, 9))),
            (Lines{"skipped_steps=2 " + skipped + " -1/1"}));
  EXPECT_EQ(scalars(metrics(counter(skipped, 1000, 7, 1))),
            (Lines{"skipped_steps=7 " + skipped + " -1/1"}));
  const std::string tokens = "nv.dl.training.tokens.processed";
  EXPECT_EQ(scalars(metrics(counter(tokens, 1000, 5000)) + metrics(counter(tokens, 3000, 9000))),
            (Lines{"tokens_per_second=2000 " + tokens + " -1/1"}));
}

TEST(Otlp, ManyTagsAreRejectedOnce) {
  std::string content;
  for (int i = 0; i < 300; ++i) {
    content +=
        metrics(R"({"name":"g)" + std::to_string(i) +
                R"(","gauge":{"dataPoints":[{"timeUnixNano":)" + at(1) + R"(,"asDouble":1}]}})");
  }
  const Outcome outcome = decode(kPath, content);
  EXPECT_EQ(outcome.events.size(), 256U);
  EXPECT_EQ(outcome.rejects, (Lines{"cardinality"}));
}

TEST(Otlp, LongAndDeepLinesAreRejected) {
  const std::string good = traces(integer("dl.rank", 0), {step(1, 0)});
  std::string deep = R"({"resourceSpans":)";
  deep += std::string(100, '[') + std::string(100, ']') + "}\n";
  const std::string long_line =
      traces(text("x", std::string(std::size_t{1} << 20U, 'x')), {step(1, 0)});
  const Outcome outcome = decode(kPath, good + deep + long_line + good);
  EXPECT_EQ(outcome.rejects, (Lines{"syntax", "too_long"}));
  EXPECT_EQ(outcome.events.size(), 2U);
}

class Runs final : public RunNaming {
 public:
  std::string job_of_run(std::string_view id) override { return "run " + std::string(id); }
  std::string job_of_writer(const FileWriter&, Time) override { return {}; }
};

// A number that a scheduler gave, but nothing random.
TEST(Otlp, TheResourceNamesItsRun) {
  Interner names;
  RecordingDiagnostics diagnostics;
  Runs runs;
  const FileContext context{.path = kPath,
                            .job = "job",
                            .interner = names,
                            .diagnostics = diagnostics,
                            .list_directory = {},
                            .naming = &runs};
  FileDecoder decoder{context, format_catalog()};
  EventBatch batch;
  const auto of = [](const std::string& id) {
    return traces(integer("dl.rank", 0) + "," + text("nemo.run.id", id), {step(1, 0)});
  };
  decoder.feed(of("17") + of("18") + of("17") + of("123e4567-e89b-12d3-a456-426614174000"), batch);
  Lines jobs;
  for (const Event& event : batch) {
    jobs.push_back(names.subjects[std::get<Span>(event).subject].job);
  }
  EXPECT_EQ(jobs, (Lines{"run 17", "run 18", "run 17", "job"}));
}

}  // namespace trainwatch::testing::otlp_test
