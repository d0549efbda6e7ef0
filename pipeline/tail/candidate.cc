// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/candidate.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/tail/lane.h"

namespace trainwatch {
namespace {

bool names_a_training(std::string_view stem) {
  constexpr std::string_view kBeginnings[] = {"train", "pretrain", "finetune"};
  constexpr std::string_view kWhole[] = {"run", "kern", "dmesg"};
  return std::ranges::find(kWhole, stem) != std::end(kWhole) ||
         std::ranges::any_of(kBeginnings, [stem](auto word) { return stem.starts_with(word); });
}

bool says_log(std::string_view stem) {
  constexpr std::string_view kWords[] = {"log", "out", "err", "console", "dmesg", "messages"};
  return std::ranges::any_of(
      kWords, [stem](auto word) { return stem.find(word) != std::string_view::npos; });
}

}  // namespace

NameClaim claim_of(std::string_view name) {
  if (!may_name_a_log(name)) return NameClaim::none;
  name = without_rotation(name);
  const std::string_view stem = name.substr(0, name.rfind('.'));
  if (name.ends_with(".log")) {
    return names_a_training(stem) ? NameClaim::training : NameClaim::log;
  }
  if (says_log(stem)) return NameClaim::log;
  return name.ends_with(".txt") ? NameClaim::text : NameClaim::bare;
}

bool may_hold_logs(std::string_view directory_name) {
  constexpr std::string_view kPackages[] = {"site-packages", "dist-packages", "node_modules",
                                            "__pycache__"};
  return !directory_name.starts_with('.') &&
         std::ranges::find(kPackages, directory_name) == std::end(kPackages);
}

void CandidateList::add(Candidate candidate, SkippedPaths& skipped) {
  found_.push_back(std::move(candidate));
  if (found_.size() >= 2 * most_ + 1) leave_out(skipped);
}

std::vector<Candidate> CandidateList::take(SkippedPaths& skipped) {
  if (found_.size() > most_) leave_out(skipped);
  std::ranges::sort(found_);
  return std::exchange(found_, {});
}

void CandidateList::leave_out(SkippedPaths& skipped) {
  const auto end = found_.begin() + static_cast<std::ptrdiff_t>(most_);
  std::ranges::nth_element(found_, end);
  for (auto each = end; each != found_.end(); ++each) {
    skipped.add(std::move(each->path), SkipReason::not_looked_at);
  }
  found_.erase(end, found_.end());
}

}  // namespace trainwatch
