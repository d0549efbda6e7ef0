// What the rules about communication have in common: they look at the last steps of a job, and in
// each at the rank that waits least in communication. What even that rank spends there is transfer,
// not waiting for a slower rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rules/rank_steps.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {

class CommunicationRule : public Rule {
 public:
  void on(const Event& event, Verdicts& out) final;
  void state(StateIo& io) final;
  bool warming() const final { return exposed_.size() < kFewestSteps; }
  std::vector<std::string_view> missing() const final { return steps_.missing(); }

 protected:
  static constexpr std::size_t kFewestSteps = 3;

  CommunicationRule(std::int64_t window, const RuleContext& context);

  // Medians over the window, in percent of the step; `hidden` of the communication.
  struct Shares {
    std::size_t steps = 0;
    double exposed = 0;
    double communication = 0;
    double hidden = 0;
  };
  // Nothing: the condition does not hold. What is the same for both rules is filled in.
  virtual std::optional<Verdict> judge(const Shares& shares) const = 0;

 private:
  void add(const JobStep& step, Verdicts& out);
  Shares shares() const;

  RankSteps steps_;
  SortedWindow exposed_;
  SortedWindow communication_;
  SortedWindow hidden_;
  bool open_ = false;
  double told_ = 0;  // the value
};

}  // namespace trainwatch
