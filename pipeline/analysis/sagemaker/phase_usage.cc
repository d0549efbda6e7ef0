// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/sagemaker/phase_usage.h"

#include <algorithm>
#include <tuple>

namespace trainwatch {

bool PhaseUsage::leads(SubjectId rank) const {
  if (!led_) return true;
  const Subject& mine = interner_.subjects[rank];
  const Subject& theirs = interner_.subjects[leader_];
  return std::tie(mine.rank, mine.node) < std::tie(theirs.rank, theirs.node);
}

void PhaseUsage::on_step(const Span& step) {
  if (step.subject != leader_ || !led_) {
    if (!leads(step.subject)) return;
    leader_ = step.subject;
    led_ = true;
    phases_ = {};
    ++steps_;
  }
  if (const auto limit = phases_.forgotten_next()) {
    for (auto& [id, node] : nodes_) {
      while (!node.waiting.empty() && node.waiting.front().at < *limit) settle_front(id, node);
    }
  }
  if (!beyond_.empty()) settle_beyond({step.start, step.end(), step.phase});
  phases_.add(step);
  ++steps_;
}

void PhaseUsage::on_sample(const Sample& sample, Resource resource) {
  auto known = nodes_.find(resource.node);
  if (known == nodes_.end()) {
    if (nodes_.size() == kMaxNodes) return;
    known = nodes_.try_emplace(resource.node).first;
  }
  Node& node = known->second;
  node.newest = std::max(node.newest, sample.at);
  node.waiting.push_back({sample.at, sample.value, resource.type});
  while (too_many_wait(node) || (!node.waiting.empty() && is_final(node, node.waiting.front()))) {
    settle_front(resource.node, node);
  }
}

bool PhaseUsage::too_many_wait(const Node& node) const {
  const std::size_t waiting = node.waiting.size();
  return waiting > kWaiting ||
         (waiting > kFewestWaiting && waiting * nodes_.size() > kWaitingOfAll);
}

bool PhaseUsage::is_final(const Node& node, const WaitingSamples::Sample& sample) const {
  const StepPhases::Step* const newest = phases_.newest();
  return newest != nullptr && sample.at < newest->start && node.newest - kLateness >= sample.at;
}

void PhaseUsage::settle_front(SubjectId id, Node& node) {
  const WaitingSamples::Sample sample = node.waiting.front();
  node.waiting.pop_front();
  Settled& settled = node.settled;
  if (sample.at != settled.at || steps_ != settled.steps) {
    settled = {steps_, sample.at, phases_.at(sample.at)};
  }
  if (!settled.place) {
    ++left_out_;
    return;
  }
  const bool beyond = phases_.newest() == nullptr || settled.place->kind == PhasePlace::Kind::after;
  if (beyond) newest_beyond_ = std::max(newest_beyond_, sample.at);
  if (settled.values == nullptr || settled.type != sample.type) {
    settled.type = sample.type;
    const Resource resource{sample.type, id};
    settled.values = values_of(beyond ? beyond_ : groups_, {*settled.place, resource});
  }
  settled.values == nullptr ? void(++left_out_) : settled.values->add(sample.value);
}

// What lies after the newest step so far lies before this one, or was read too late.
void PhaseUsage::settle_beyond(const StepPhases::Step& step) {
  for (auto& [group, values] : beyond_) {
    if (step.start <= newest_beyond_) {
      left_out_ += values.count();
      continue;
    }
    Group settled = group;
    if (phases_.newest() != nullptr) {
      settled.place = {PhasePlace::Kind::between, phases_.newest()->phase, step.phase};
    }
    merge(settled, values);
  }
  beyond_.clear();
  newest_beyond_ = kNoTime;
}

PhaseUsage::Values* PhaseUsage::values_of(Groups& groups, const Group& group) {
  const auto entry = groups.find(group);
  if (entry != groups.end()) return &entry->second;
  return groups.size() == kMaxGroups ? nullptr : &groups[group];
}

void PhaseUsage::merge(const Group& group, const Distribution& values) {
  if (groups_.size() == kMaxGroups && !groups_.contains(group)) {
    left_out_ += values.count();
  } else {
    groups_[group].merge(values);
  }
}

std::string PhaseUsage::name_of(const PhasePlace& place) const {
  std::string phase(interner_.text(place.phase));
  switch (place.kind) {
    case PhasePlace::Kind::before:
      return "Before " + std::string(interner_.text(phases_.first_phase()));
    case PhasePlace::Kind::after:
      return "After " + phase;
    case PhasePlace::Kind::between:
      if (phases_.several() && place.phase == place.next) return phase;
      return between_phases(phase, interner_.text(place.next));
    default:
      return phase;
  }
}

std::map<std::pair<std::string, PhaseUsage::Resource>, PhaseUsage::Values> PhaseUsage::result()
    const {
  std::map<std::pair<std::string, Resource>, Values> named;
  if (!led_) return named;
  for (const Groups* groups : {&groups_, &beyond_}) {
    for (const auto& [group, values] : *groups) {
      named[{name_of(group.place), group.resource}].merge(values);
    }
  }
  for (const auto& [id, node] : nodes_) {
    node.waiting.each([&, node_id = id](const WaitingSamples::Sample& sample) {
      const auto place = phases_.at(sample.at);
      if (place) named[{name_of(*place), {sample.type, node_id}}].add(sample.value);
    });
  }
  return named;
}

void PhaseUsage::state(StateIo& io) {
  io(leader_);
  io(led_);
  if (io.take_gone()) led_ = false;
  phases_.state(io, interner_);
  io(nodes_);
  io(groups_);
  io(beyond_);
  io(newest_beyond_);
  io(left_out_);
  if (!is_known(interner_, leader_) || nodes_.size() > kMaxNodes) io.fail();
  for (const auto& [id, node] : nodes_) {
    if (!is_known(interner_, id) || node.waiting.size() > kWaiting) io.fail();
    node.waiting.each([&](const WaitingSamples::Sample& sample) {
      if (!is_known(interner_, sample.type)) io.fail();
    });
  }
  for (const Groups* groups : {&groups_, &beyond_}) {
    if (groups->size() > kMaxGroups) io.fail();
    for (const auto& [group, values] : *groups) {
      const bool known =
          is_known(interner_, group.place.phase) && is_known(interner_, group.place.next) &&
          is_known(interner_, group.resource.type) && is_known(interner_, group.resource.node) &&
          group.place.kind < PhasePlace::Kind::count_;
      if (!known) io.fail();
    }
  }
}

}  // namespace trainwatch
