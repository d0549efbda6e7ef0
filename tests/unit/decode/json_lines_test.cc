// SPDX-License-Identifier: Apache-2.0
// What each preset makes of lines of objects as their real writers write them.
#include <gtest/gtest.h>

#include "declared_reading.h"
#include "decode_harness.h"
#include "pipeline/decode/declared/declaration.h"

namespace trainwatch::testing::json_lines_test {

TEST(JsonLines, LlamaFactory) {
  const std::string content =
      R"({"current_steps": 10, "total_steps": 3000, "loss": 2.5132, "lr": 4.9e-05, "epoch": 0.01, "percentage": 0.33, "elapsed_time": "0:00:24", "remaining_time": "2:01:11", "throughput": 1234.5, "total_tokens": 29628})"
      "\n"
      R"({"current_steps": 20, "total_steps": 3000, "loss": "NaN", "learning_rate": "4.8e-05", "epoch": 0.02, "eval_loss": 2.25})"
      "\n";
  EXPECT_EQ(scalars_of("/w/out/trainer_log.jsonl", content),
            (Lines{"total_steps=3000 10/1", "loss=2.5132 10/1", "learning_rate=4.9e-05 10/1",
                   "epoch=0.01 10/1", "elapsed_seconds=24 10/1", "tokens_per_second=1234.5 10/2",
                   "total_steps=3000 20/1", "loss=nan 20/1", "learning_rate=4.8e-05 20/1",
                   "epoch=0.02 20/1", "validation_loss=2.25 20/1"}));
  EXPECT_EQ(declared_of("/w/any_name", content), "json_lines llama_factory");
}

// Its records of an evaluation have other members.
TEST(JsonLines, Detectron2) {
  const std::string content =
      R"({"bbox/AP": 12.5, "iteration": 19})"
      "\n"
      R"({"data_time": 0.0125, "eta_seconds": 81.5, "iteration": 39, "loss_cls": 0.5, "lr": 0.001, "rank_data_time": 0.013, "time": 0.25, "total_loss": Infinity})"
      "\n"
      R"({"data_time": 0.5, "iteration": 59, "time": 1.0, "total_loss": 1.5})"
      "\n";
  EXPECT_EQ(
      scalars_of("/w/output/metrics.json", content),
      (Lines{"data_seconds=0.0125 39/2", "other=81.5 39/1", "other=0.5 39/1",
             "learning_rate=0.001 39/1", "other=0.013 39/1", "step_seconds=0.25 39/2",
             "loss=inf 39/1", "data_seconds=0.5 59/20", "step_seconds=1 59/20", "loss=1.5 59/1"}));
}

TEST(JsonLines, MmengineWithoutItsEvaluations) {
  const std::string content =
      R"({"lr": 0.001, "data_time": 0.01, "loss": 2.5, "time": 0.125, "epoch": 1, "iter": 10, "memory": 2, "step": 10})"
      "\n"
      R"({"coco/bbox_mAP": 0.5, "data_time": 3.0, "time": 9.0, "step": 1})"
      "\n"
      R"({"lr": 0.001, "data_time": 0.01, "loss": NaN, "time": 0.125, "epoch": 1, "iter": 20, "memory": 2, "step": 20})"
      "\n";
  const auto record = [](const std::string& loss, const std::string& step,
                         const std::string& mean) {
    return Lines{"learning_rate=0.001 " + step + "/1",
                 "data_seconds=0.01 " + step + "/" + mean,
                 "loss=" + loss + " " + step + "/1",
                 "step_seconds=0.125 " + step + "/" + mean,
                 "epoch=1 " + step + "/1",
                 "other=" + step + " " + step + "/1",
                 "memory_bytes=2.09715e+06 " + step + "/1"};
  };
  Lines expected = record("2.5", "10", "2");
  for (const std::string& line : record("nan", "20", "10")) expected.push_back(line);
  EXPECT_EQ(scalars_of("/w/20240501_101112/vis_data/20240501_101112.json", content), expected);
}

TEST(JsonLines, MmcvBehindItsEnvironment) {
  EXPECT_EQ(
      scalars_of(
          "/w/20210501_101112.log.json",
          R"({"env_info": "sys.platform: linux {x}", "seed": 0})"
          "\n"
          R"({"mode": "train", "epoch": 1, "iter": 50, "lr": 0.01, "data_time": 0.5, "loss": 2.5, "time": 1.5})"
          "\n"),
      (Lines{"epoch=1 -1/1", "learning_rate=0.01 -1/1", "data_seconds=0.5 -1/1", "loss=2.5 -1/1",
             "step_seconds=1.5 -1/1"}));
}

std::string titan(const std::string& name, const std::string& time_us, const std::string& rest) {
  return R"({"time_us": )" + time_us +
         R"(, "step": 7, "relative_step": 7, "rank": 3, "pid": 17, "tid": 18, "host_name": "node-a", "seq_id": 1, "caller": "a.py:5", "step_tags": ["gc"], "log_type_name": ")" +
         name + "\"" + rest + "}\n";
}

TEST(JsonLines, TorchtitanSpansOfEachRank) {
  DecodeRun run{"/w/structured_logs/trainer.global_rank_3.20260501-101112-abcdef.jsonl"};
  run.feed(titan("step_start", "1700000000000000", ""));
  run.feed(titan("fetching_batch_end", "1700000000250000", R"(, "value": 250.5)"));
  run.feed(titan("optim_end", "1700000000900000", R"(, "value": "100")"));
  run.feed(titan("step_error", "1700000000950000", ""));
  run.feed(titan("step_end", "1700000001000000", R"(, "value": 1000)"));
  run.feed(titan("step_end", "1700000002000000", R"(, "value": -1)"));
  const Outcome outcome = run.finish();
  EXPECT_EQ(outcome.rejects, Lines{"time"});
  EXPECT_EQ(outcome.records, 6U);
  ASSERT_EQ(outcome.events.size(), 3U);
  EXPECT_EQ(outcome.events[0],
            "span 1699999999999500000 +250500000 step=7 job/node-a/3/ 'fetching_batch' in "
            "'fetching_batch' worker=-1 pid=17 kind=2 mode=0 origin=0 thread=18");
  EXPECT_EQ(std::get<Span>(run.raw_events()[1]).kind, SpanKind::optimizer);
  const auto& step = std::get<Span>(run.raw_events()[2]);
  EXPECT_EQ(step.kind, SpanKind::step);
  EXPECT_EQ(step.mode, Mode::train);
  EXPECT_EQ(to_ns(step.start), 1'700'000'000'000'000'000);
}

TEST(JsonLines, StepsOfAGeneratorAreNotThoseOfTheTraining) {
  DecodeRun run{"/w/structured_logs/generator.global_rank_3.20260501-101112-abcdef.jsonl"};
  run.feed(titan("step_end", "1700000001000000", R"(, "value": 1000, "source": "generator")"));
  run.feed(titan("step_end", "1700000002000000", R"(, "value": 1000, "source": "trainer")"));
  run.feed(titan("wait_for_training_batch_end", "1700000003000000",
                 R"(, "value": 1000, "source": "trainer")"));
  run.finish();
  ASSERT_EQ(run.raw_events().size(), 3U);
  EXPECT_EQ(std::get<Span>(run.raw_events()[0]).kind, SpanKind::other);
  EXPECT_EQ(std::get<Span>(run.raw_events()[1]).kind, SpanKind::step);
  EXPECT_EQ(std::get<Span>(run.raw_events()[2]).kind, SpanKind::data_wait);
}

TEST(JsonLines, OthersAreLimitedInNumber) {
  std::string line = R"({"iteration": 1, "data_time": 0.5)";
  for (int i = 0; i < 100; ++i) line += ", \"m" + std::to_string(i) + "\": 1";
  DecodeRun run{"/w/metrics.json"};
  run.feed(line + "}\n" + line + "}\n");
  const Outcome outcome = run.finish();
  EXPECT_EQ(outcome.events.size(), 2 * (1 + kMostOtherTags));
  EXPECT_EQ(outcome.rejects, Lines{"cardinality"});
}

TEST(JsonLines, ABadLineCostsItselfAndObjectsOfNobodyAreNotOurs) {
  const std::string record = R"({"iteration": 1, "data_time": 0.5})";
  const Outcome outcome =
      decode("/w/metrics.json", record + "\n{\"iteration\": 2, \"da\n" + record + "\n\n" + record);
  EXPECT_EQ(outcome.records, 2U);
  EXPECT_EQ(outcome.rejects, Lines{"syntax"});
  EXPECT_EQ(declared_of("/w/a.json", "{\"a\": 1, \"b\": 2}\n{\"a\": 2}\n"), "unknown ");
  EXPECT_EQ(detect_format(format_catalog(), "{\"a\": {\"b\"", "/w/a.json").name, "undecided");
}

}  // namespace trainwatch::testing::json_lines_test
