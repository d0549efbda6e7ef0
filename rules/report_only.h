// The rule of those SageMaker rules that never fire: reports, whose figures an analysis of the same
// name has. It asks for no events and says nothing.
#pragma once

#include "trainwatch/rule.h"

namespace trainwatch {

struct NoParams {};

class ReportOnly final : public Rule {
 public:
  ReportOnly(const NoParams&, const RuleContext&) {}
  void on(const Event&, Verdicts&) override {}
  void state(StateIo&) override {}
};

}  // namespace trainwatch
