// SPDX-License-Identifier: Apache-2.0
// A job of tensor, data and pipeline parallel ranks that stops at an injected fault, and the Flight
// Recorder dumps of its ranks. What is known of each rank follows from which calls can complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"

namespace trainwatch::testing {

class HangingJob {
 public:
  enum class Fault : std::uint8_t {
    none,      // dumps of a job that is well
    absent,    // the host of a rank does not come to its next call
    stuck,     // the GPU of a rank does not finish what the others finish
    mismatch,  // a rank calls another operation, or with other sizes or types
    network,   // a call that all are in does not complete
  };

  struct Layout {
    std::int32_t tensor = 2;
    std::int32_t data = 2;
    std::int32_t pipeline = 2;
    bool sends_in_world = false;  // pipelines use the group of all ranks
    bool batches_sends = false;   // as coalesced blocks
    bool hashed_names = false;    // groups of one kind share their name
    std::int64_t ahead = 1;       // calls that the host is ahead of the GPU
    std::size_t ring = 2000;      // entries that a rank remembers
    bool only_active = false;     // entries that are not complete
    bool status = true;           // as in versions from 2.3 on

    std::int32_t ranks() const { return tensor * data * pipeline; }
  };

  HangingJob(const Layout& layout, unsigned seed) : layout_(layout), random_(seed) {
    make_groups();
    for (std::int32_t rank = 0; rank < layout_.ranks(); ++rank) make_program(rank);
    reached_.assign(programs_.size(), 0);
    limit_.assign(programs_.size(), kNoLimit);
    stuck_.assign(programs_.size(), kNoLimit);
  }

  // Chooses the ranks and the place, and runs until nothing moves. The ranks at fault, by which the
  // others are held up.
  std::set<std::int32_t> run(Fault fault, std::size_t culprits = 1) {
    const std::size_t length = programs_[0].size();
    const std::size_t from = length / 3 + random_() % (length / 3);
    if (fault == Fault::none) stop_everywhere(from);
    if (fault == Fault::network) break_network(from);
    std::set<std::int32_t> chosen;
    while (chosen.size() < culprits && fault != Fault::none && fault != Fault::network) {
      const auto rank = static_cast<std::int32_t>(random_() % programs_.size());
      if (chosen.insert(rank).second) inject(fault, rank, from);
    }
    settle();
    return chosen;
  }

  RankDump dump(std::int32_t rank, Time written = kWritten) {
    RankDump made;
    made.rank = rank;
    made.written = written;
    made.version = layout_.status ? "2.9" : "2.1";
    const auto& program = programs_[static_cast<std::size_t>(rank)];
    const std::size_t enqueued = enqueued_of(rank);
    const auto entries = static_cast<std::int64_t>(layout_.ring);
    const std::int64_t first = record_of(rank, enqueued) - entries;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      if (!std::ranges::binary_search(group.ranks, rank)) continue;
      FlightGroup own{group.name, group.description, group.ranks, FlightProgress{}, {}};
      for (std::size_t i = 0; i < enqueued; ++i) {
        if (program[i].group != g) continue;
        const FlightOperation operation = operation_of(rank, i);
        const std::int64_t number = operation.p2p ? operation.p2p_sequence : operation.sequence;
        own.progress->enqueued = number;
        if (operation.completed) own.progress->completed = number;
        if (layout_.only_active && operation.completed) continue;
        if (operation.record >= first) own.operations.push_back(operation);
        const bool has_block = operation.p2p && layout_.batches_sends;
        if (has_block && operation.record + 1 >= first)
          own.operations.push_back(block_of(operation));
      }
      if (!layout_.status) own.progress.reset();
      made.groups.push_back(std::move(own));
    }
    return made;
  }

  std::int32_t ranks() const { return layout_.ranks(); }
  // Of the call at which the fault was injected.
  const std::vector<std::int32_t>& group_at_fault() const { return group_at_fault_; }

  static constexpr Time kStarted = time_from_ns(1'700'000'000'000'000'000);
  static constexpr Time kWritten = kStarted + std::chrono::seconds(700);
  static constexpr Time kSoon = kStarted + std::chrono::seconds(25);  // no call is 30 s old

 private:
  static constexpr std::size_t kNoLimit = ~std::size_t{0};
  struct Group {
    std::string name;
    std::string description;
    std::vector<std::int32_t> ranks;
  };
  struct Call {
    std::size_t group = 0;
    std::string name;
    std::int64_t sequence = 0;
    std::int64_t p2p_sequence = 0;
    std::int32_t peer = -1;   // of a send or receive
    std::int64_t number = 0;  // of this pair and direction
    bool sends = false;
    bool broken = false;  // completes nowhere
    std::int64_t size = 64;
    std::string type = "BFloat16";
  };

  std::int32_t rank_at(std::int32_t t, std::int32_t d, std::int32_t p) const {
    return (p * layout_.data + d) * layout_.tensor + t;
  }

  void add_group(const std::string& kind, std::vector<std::int32_t> ranks) {
    if (ranks.size() < 2) return;
    const std::string number = std::to_string(groups_.size());
    groups_.push_back({layout_.hashed_names ? kind + "_hash" : number, kind, std::move(ranks)});
  }

  void make_groups() {
    std::vector<std::int32_t> all;
    for (std::int32_t rank = 0; rank < layout_.ranks(); ++rank) all.push_back(rank);
    groups_.push_back({"0", "default_pg", all});
    const auto each = [&](const std::string& kind, std::int32_t a, std::int32_t b, std::int32_t n,
                          const auto& rank) {
      for (std::int32_t i = 0; i < a; ++i) {
        for (std::int32_t k = 0; k < b; ++k) {
          std::vector<std::int32_t> members;
          for (std::int32_t m = 0; m < n; ++m) members.push_back(rank(i, k, m));
          add_group(kind, members);
        }
      }
    };
    each("TENSOR", layout_.data, layout_.pipeline, layout_.tensor,
         [&](auto d, auto p, auto t) { return rank_at(t, d, p); });
    each("DATA", layout_.tensor, layout_.pipeline, layout_.data,
         [&](auto t, auto p, auto d) { return rank_at(t, d, p); });
    each("PIPELINE", layout_.tensor, layout_.data, layout_.pipeline,
         [&](auto t, auto d, auto p) { return rank_at(t, d, p); });
  }

  std::optional<std::size_t> group_of(const std::string& kind, std::int32_t rank) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].description == kind && std::ranges::binary_search(groups_[g].ranks, rank))
        return g;
    }
    return std::nullopt;
  }

  void make_program(std::int32_t rank) {
    programs_.emplace_back();
    const std::int32_t stage = rank / (layout_.tensor * layout_.data);
    const std::int32_t stride = layout_.tensor * layout_.data;
    for (int step = 0; step < 8; ++step) {
      for (int batch = 0; batch < 2; ++batch) {
        if (stage > 0) send(rank, rank - stride, false);
        collective(rank, "TENSOR", "all_reduce");
        collective(rank, "TENSOR", "_all_gather_base");
        if (stage + 1 < layout_.pipeline) send(rank, rank + stride, true);
      }
      collective(rank, "DATA", "_reduce_scatter_base");
      collective(rank, "DATA", "all_to_all");
      collective(rank, "default_pg", "all_reduce");
    }
  }

  void collective(std::int32_t rank, const std::string& kind, const std::string& name) {
    const auto group = group_of(kind, rank);
    if (!group) return;
    Call call;
    call.group = *group;
    call.name = name;
    call.sequence = ++sequences_[{rank, *group}];
    call.p2p_sequence = p2p_sequences_[{rank, *group}];
    programs_.back().push_back(call);
  }

  void send(std::int32_t rank, std::int32_t peer, bool sends) {
    const auto group = group_of(layout_.sends_in_world ? "default_pg" : "PIPELINE", rank);
    const auto& ranks = groups_[*group].ranks;
    const auto place = [&](std::int32_t of) {
      return std::to_string(std::ranges::lower_bound(ranks, of) - ranks.begin());
    };
    Call call;
    call.group = *group;
    call.name = sends ? "send " + place(rank) + "->" + place(peer)
                      : "recv " + place(rank) + "<-" + place(peer);
    call.sequence = sequences_[{rank, *group}];
    call.p2p_sequence = ++p2p_sequences_[{rank, *group}];
    call.peer = peer;
    call.sends = sends;
    call.number = ++pairs_[{sends ? rank : peer, sends ? peer : rank, sends ? 1 : 0}];
    programs_.back().push_back(call);
  }

  // Where `member` makes the same call as `rank`, or is the other end of it.
  std::size_t place_of(std::int32_t member, const Call& call, std::int32_t rank) const {
    const auto& program = programs_[static_cast<std::size_t>(member)];
    const auto found = std::ranges::find_if(program, [&](const Call& theirs) {
      if (call.peer >= 0)
        return theirs.peer == rank && theirs.sends != call.sends && theirs.number == call.number;
      return theirs.peer < 0 && theirs.group == call.group && theirs.sequence == call.sequence;
    });
    return static_cast<std::size_t>(found - program.begin());
  }

  // Hosts are a few calls apart.
  void stop_everywhere(std::size_t from) {
    for (std::size_t& limit : limit_) limit = from + random_() % 4;
  }

  void break_network(std::size_t from) {
    Call& call = programs_[0][from];
    group_at_fault_ = groups_[call.group].ranks;
    call.broken = true;
  }

  void inject(Fault fault, std::int32_t rank, std::size_t from) {
    auto& program = programs_[static_cast<std::size_t>(rank)];
    std::size_t place = std::min(from + random_() % 8, program.size() - 1);
    // A call that is a collective of enough ranks to see who is alone.
    const bool needs_group = fault == Fault::mismatch;
    while (needs_group && place + 1 < program.size() && program[place].peer >= 0) ++place;
    Call& call = program[place];
    group_at_fault_ = groups_[call.group].ranks;
    if (fault == Fault::absent) limit_[static_cast<std::size_t>(rank)] = place;
    if (fault == Fault::stuck) stuck_[static_cast<std::size_t>(rank)] = place;
    if (fault != Fault::mismatch) return;
    call.broken = true;
    const auto how = random_() % 3;
    if (how == 0) call.name = "broadcast";
    if (how == 1 && call.name != "all_to_all") call.size += 1;
    if (how == 1 && call.name == "all_to_all") call.name = "all_reduce";
    if (how == 2) call.type = "Float";
  }

  std::size_t enqueued_of(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const auto ahead = static_cast<std::size_t>(layout_.ahead);
    return std::min({reached_[r] + ahead, limit_[r], programs_[r].size()});
  }

  bool is_complete(const Call& call, std::int32_t rank) const {
    const auto ends =
        call.peer >= 0 ? std::vector<std::int32_t>{rank, call.peer} : groups_[call.group].ranks;
    return std::ranges::all_of(ends, [&](std::int32_t member) {
      const auto& program = programs_[static_cast<std::size_t>(member)];
      const std::size_t place = member == rank ? static_cast<std::size_t>(&call - program.data())
                                               : place_of(member, call, rank);
      if (place >= program.size() || program[place].broken) return false;
      return reached_[static_cast<std::size_t>(member)] >= place && enqueued_of(member) > place;
    });
  }

  // One call of each rank at a time.
  void settle() {
    created_.resize(programs_.size());
    std::int64_t tick = 0;
    for (bool moved = true; moved; ++tick) {
      moved = false;
      for (std::int32_t rank = 0; rank < layout_.ranks(); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        created_[r].resize(enqueued_of(rank), kStarted + std::chrono::milliseconds(50 * tick));
        if (reached_[r] >= enqueued_of(rank) || reached_[r] == stuck_[r] ||
            !is_complete(programs_[r][reached_[r]], rank)) {
          continue;
        }
        ++reached_[r];
        moved = true;
      }
    }
  }

  // A block is recorded behind its part.
  std::int64_t record_of(std::int32_t rank, std::size_t place) const {
    const auto& program = programs_[static_cast<std::size_t>(rank)];
    const auto sends =
        std::count_if(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(place),
                      [](const Call& call) { return call.peer >= 0; });
    return 1000 * (rank + 1) + static_cast<std::int64_t>(place) +
           (layout_.batches_sends ? sends : 0);
  }

  FlightOperation operation_of(std::int32_t rank, std::size_t place) {
    const auto r = static_cast<std::size_t>(rank);
    const Call& call = programs_[r][place];
    FlightOperation operation;
    operation.record = record_of(rank, place);
    operation.sequence = call.sequence;
    operation.p2p_sequence = call.p2p_sequence;
    operation.name = call.name;
    operation.p2p = call.peer >= 0;
    operation.completed = place < reached_[r];
    operation.created = created_[r][place];
    operation.timeout_ms = 600'000;
    const auto members = static_cast<std::int64_t>(groups_[call.group].ranks.size());
    const bool gathers = call.name == "_all_gather_base";
    const bool scatters = call.name == "_reduce_scatter_base";
    operation.inputs = {{call.size * (scatters ? members : 1), 8}};
    operation.outputs = {{call.size * (gathers ? members : 1), 8}};
    operation.input_types = operation.output_types = {call.type};
    return operation;
  }
  static FlightOperation block_of(const FlightOperation& part) {
    FlightOperation block = part;
    block.name = "coalesced";
    ++block.record;
    return block;
  }

  Layout layout_;
  std::mt19937 random_;
  std::vector<Group> groups_;
  std::vector<std::vector<Call>> programs_;
  std::vector<std::size_t> reached_;  // calls that the GPU of a rank has completed
  std::vector<std::size_t> limit_;    // calls that its host comes to
  std::vector<std::vector<Time>> created_;
  std::vector<std::size_t> stuck_;  // the call that its GPU never completes
  std::map<std::pair<std::int32_t, std::size_t>, std::int64_t> sequences_;
  std::map<std::pair<std::int32_t, std::size_t>, std::int64_t> p2p_sequences_;
  std::map<std::vector<std::int32_t>, std::int64_t> pairs_;
  std::vector<std::int32_t> group_at_fault_;
};

}  // namespace trainwatch::testing
