// SPDX-License-Identifier: Apache-2.0
// Where a rule says what it finds, for tests of a rule without an engine: an alert book.
#pragma once

#include <utility>

#include "pipeline/engine/alert_book.h"

namespace trainwatch::test {

class BookOutput final : public Verdicts {
 public:
  BookOutput(const RuleConfig& config, const Interner& interner, const Rule& rule)
      : book_(interner), source_{0, SubjectId::none, &config, rule.lifecycle()} {}

  void holds(std::string_view key) override { book_.holds(source_, key); }
  void clear(std::string_view key, Time at) override { book_.clear(source_, key, at); }
  void clear_all(Time at) override { book_.clear_all(source_, at); }
  void restarted(Time at) override { book_.end(source_, at, EndedBecause::restarted); }
  std::uint64_t firings(std::string_view key) const override { return book_.firings(source_, key); }

  // The verdicts that the book wanted.
  std::size_t verdicts() const { return verdicts_; }
  std::size_t open() const { return book_.firing(); }

 protected:
  bool wants(const Condition& condition) override { return book_.fires(source_, condition); }
  void put(Verdict verdict) override {
    ++verdicts_;
    book_.apply(source_, std::move(verdict));
  }

 private:
  AlertBook book_;
  AlertBook::Source source_;
  std::size_t verdicts_ = 0;
};

}  // namespace trainwatch::test
