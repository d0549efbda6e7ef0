// SPDX-License-Identifier: Apache-2.0
// A trial of SageMaker Debugger from its files to the rules: every tensor arrives once, the same
// ones live and from the finished files, and a loss that is no number raises loss_nan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/event_file_writer.h"
#include "support/source_path.h"
#include "support/temp_directory.h"
#include "support/watcher.h"
#include "trainwatch/tensor.h"

namespace trainwatch::trial_tensors_test {

using namespace test;

constexpr int kSteps = 6;
constexpr int kWorkers = 2;

// Fires once for each tensor; key and summary say which it was and what was found.
struct SeenTensorParams {};
class SeenTensor final : public Rule {
 public:
  SeenTensor(const SeenTensorParams&, const RuleContext& context) : context_(context) {}
  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    std::string key(context_.interner.text(tensor.name));
    key += " " + std::to_string(tensor.step) + " rank " +
           std::to_string(context_.interner.subjects[tensor.subject].rank) + " of " +
           std::to_string(tensor.statistics.count) + " " + std::to_string(tensor.statistics.mean);
    for (const Symbol name : tensor.collections)
      key += " in " + std::string(context_.interner.text(name));
    Verdict verdict;
    verdict.window_start = verdict.window_end = tensor.at;
    verdict.summary = key;
    out.fires({.key = key, .at = tensor.at}, [&] { return verdict; });
  }
  void state(StateIo&) override {}

 private:
  RuleContext context_;
};

std::vector<RuleConfig> with_seen_tensor() {
  static const RuleSpec spec = make_spec<SeenTensor, SeenTensorParams>(
      {.id = "seen_tensor", .scope = Scope::job, .summary = "", .doc = ""}, {});
  std::vector<RuleConfig> rules = Config(rule_catalog()).enabled_rules();
  rules.emplace_back(spec);
  return rules;
}

std::string twelve(int number) {
  const std::string digits = std::to_string(number);
  return std::string(12 - digits.size(), '0') + digits;
}

std::string name_of(int step, int worker) {
  return "tensors/events/" + twelve(step) + "/" + twelve(step) + "_worker_" +
         std::to_string(worker) + ".tfevents";
}

// The loss is no number from step 4 on.
std::string content_of_step(int step, int worker) {
  using namespace testing;
  std::vector<float> gradient(5000);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    gradient[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(step)) % 101) * 0.1F;
  const double at = 1.7e9 + step;
  const float loss = step < 4 ? 1.F / static_cast<float>(step + 1) : NAN;
  return trial_record(at, step,
                      trial_value("gradient/w", 1, tensor_shape({50, 100}) + content_of(gradient),
                                  1, step)) +
         trial_record(at, step,
                      trial_value("CrossEntropyLoss_output_" + std::to_string(worker), 1,
                                  tensor_shape({}) + content_of<float>({loss}), 1, step));
}

void write_collections(const TempDirectory& job) {
  job.append(
      "tensors/collections/000000000/worker_0_collections.json",
      R"({"collections": {"gradients": {"include_regex": ["^gradient"], "tensor_names": []}},)"
      R"( "_meta": {"num_workers": 2}})");
}

// What each alert that was ever raised is about, sorted.
std::vector<std::string> found(const std::vector<AlertLine>& alerts) {
  std::vector<std::string> all;
  for (const auto& [id, alert] : final_alerts(alerts)) {
    if (alert.rule == "seen_tensor" || alert.rule == "loss_nan")
      all.push_back(alert.rule + " " + text_field(alert.json, "summary"));
  }
  std::ranges::sort(all);
  return all;
}

TEST(TrialTensors, LiveAndReplayedAreTheSame) {
  TempDirectory live;
  write_collections(live);
  Watcher watcher(live.path(), 1000, {}, with_seen_tensor());
  TempDirectory whole;
  write_collections(whole);
  for (int step = 0; step < kSteps; ++step) {
    for (int worker = 0; worker < kWorkers; ++worker) {
      const std::string content = content_of_step(step, worker);
      const std::string name = name_of(step, worker);
      whole.append(name, content);
      // As its writer does: under another name until it is complete.
      const std::size_t cut = content.size() / 3 * static_cast<std::size_t>(worker + 1);
      live.append(name + ".tmp", content.substr(0, cut));
      watcher.look();
      live.append(name + ".tmp", content.substr(cut));
      if (step % 2 == 0) watcher.look();
      live.rename(name + ".tmp", name);
      watcher.look();
      watcher.tick();
    }
  }
  const std::vector<std::string> seen = found(watcher.finish());
  EXPECT_EQ(seen,
            found(Watcher(whole.path(), std::size_t{256} << 10U, {}, with_seen_tensor()).finish()));
  const auto tensors = std::ranges::count_if(
      seen, [](const std::string& line) { return line.starts_with("seen_tensor"); });
  EXPECT_EQ(tensors, 2 * kSteps * kWorkers);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()) - tensors, kWorkers)
      << "loss_nan of each rank";
  EXPECT_TRUE(std::ranges::any_of(seen, [](const std::string& line) {
    return line.starts_with("seen_tensor gradient/w 3 rank 1 of 5000 ") &&
           line.ends_with(" in gradients");
  }));
}

TEST(TrialTensors, RealTrialsReachTheRules) {
  const std::filesystem::path trials = source_path("../shared/data/sagemaker/trials");
  if (!std::filesystem::exists(trials)) GTEST_SKIP() << trials << " is absent";
  Watcher watcher(std::filesystem::canonical(trials).string(), std::size_t{256} << 10U, {},
                  with_seen_tensor());
  const std::vector<std::string> seen = found(watcher.finish());
  const auto with = [&](std::string_view text) {
    return std::ranges::count_if(
        seen, [text](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  EXPECT_GT(with("seen_tensor gradient/dense/kernel:0 "), 10);
  EXPECT_GT(with(" in losses"), 10);
  EXPECT_GT(with("seen_tensor smdebug/reductions/"), 10);
  for (const auto& [id, file] : watcher.ingest().files())
    EXPECT_EQ(file.rejects, 0U) << file.known.path;
}

}  // namespace trainwatch::trial_tensors_test
