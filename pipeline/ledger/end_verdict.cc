// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/end_verdict.h"

#include <algorithm>

namespace trainwatch {
namespace {

constexpr auto kSameFailure = std::chrono::seconds(2);

// What a launcher calls the root names the rank, but its class is only how that process ended.
EndWeight weight_of_class(const EndEvidence& evidence) {
  return evidence.weight == EndWeight::root ? EndWeight::ended : evidence.weight;
}

// Whether `a` says more than `b`: a stronger kind, or the same earlier.
bool says_more(Time a_at, const EndEvidence& a, const AttemptEnd& b) {
  const EndWeight own = weight_of_class(a);
  const EndWeight other = weight_of_class(b.how);
  if (own != other) return own > other;
  if (a_at != b.at) return a_at < b.at;
  return b.how.rank == kNoRank && a.rank != kNoRank && a.what == b.how.what;
}

// Of the job as a whole, and no rank is to blame.
bool has_no_rank(EndClass what) {
  return what == EndClass::time_limit || what == EndClass::preempted ||
         what == EndClass::cancelled || what == EndClass::node_failure ||
         what == EndClass::completed;
}

template <class T>
void fill(std::optional<T>& into, const std::optional<T>& from) {
  if (!into) into = from;
}

// What else is known of the rank that failed: a scheduler says on which node and with which code.
void complete(EndEvidence& end, const EndEvidence& other) {
  if (end.node.empty()) end.node = other.node;
  if (end.signal || end.exit_code) return;
  end.signal = other.signal;
  end.exit_code = other.exit_code;
}

}  // namespace

void EndVerdict::add(Time at, const EndEvidence& evidence) {
  const bool root = evidence.weight == EndWeight::root && (!root_ || at < root_->at);
  if (root) root_ = AttemptEnd{at, evidence};
  if (!best_ || says_more(at, evidence, *best_)) best_ = AttemptEnd{at, evidence};
}

std::optional<AttemptEnd> EndVerdict::verdict() const {
  if (!best_) return std::nullopt;
  AttemptEnd end = *best_;
  if (end.how.weight == EndWeight::consequence) {  // of a failure that nobody reports
    end.how.what = EndClass::unknown;
    end.how.rank = kNoRank;
  }
  // A launcher's last word may be about another start, of which nothing else is known.
  const bool same = root_ && (end.how.rank == kNoRank || root_->at - end.at < kSameFailure);
  if (same && !has_no_rank(end.how.what) && end.how.what != EndClass::collective_timeout) {
    const EndEvidence& root = root_->how;
    if (root.rank != kNoRank) end.how.rank = root.rank;
    if (!root.node.empty()) end.how.node = root.node;
  }
  if (same) {
    fill(end.how.signal, root_->how.signal);
    fill(end.how.exit_code, root_->how.exit_code);
    if (end.how.node.empty()) end.how.node = root_->how.node;
  }
  if (has_no_rank(end.how.what)) end.how.rank = kNoRank;
  return end;
}

void EndEvidences::add(Time at, const EndEvidence& evidence) {
  const auto again = std::ranges::find_if(all_, [&evidence](const AttemptEnd& known) {
    return !evidence.text.empty() && known.how.text == evidence.text &&
           known.how.file == evidence.file;
  });
  if (again != all_.end()) {
    if (again->how.weight == EndWeight::root && evidence.weight != EndWeight::root) return;
    *again = AttemptEnd{at, evidence};
    return;
  }
  if (all_.size() == kMost) {
    const auto least = std::ranges::find_if(
        all_, [](const AttemptEnd& known) { return known.how.weight == EndWeight::consequence; });
    all_.erase(least == all_.end() ? all_.begin() : least);
  }
  all_.push_back(AttemptEnd{at, evidence});
}

std::optional<AttemptEnd> EndEvidences::verdict(Time from, Time to, Time began) const {
  EndVerdict failure;
  bool reported = false;
  std::optional<AttemptEnd> done;
  for (const AttemptEnd& one : all_) {
    if (one.at < from || one.at >= to) continue;
    if (one.how.of_machine && one.at < began) continue;
    if (one.how.what != EndClass::completed) {
      failure.add(one.at, one.how);
      reported = reported || !one.how.of_machine;
    } else if (!done || one.at > done->at) {
      done = one;
    }
  }
  auto failed = failure.verdict();
  if (!failed || !reported) return done;
  for (const AttemptEnd& one : all_) {
    const bool same = one.how.rank != kNoRank && one.how.rank == failed->how.rank;
    if (same && one.at >= from && one.at < to) complete(failed->how, one.how);
  }
  return failed;
}

}  // namespace trainwatch
