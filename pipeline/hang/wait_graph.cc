// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/wait_graph.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <string_view>
#include <utility>

#include "pipeline/hang/call_text.h"
#include "pipeline/hang/heads.h"
#include "pipeline/hang/p2p_match.h"

namespace trainwatch {
namespace {

using Kind = HangFinding::Kind;
using Dumps = std::map<std::int32_t, RankDump>;
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Node = std::size_t;

// Those that others take part in may be complete on some ranks before all have begun.
bool needs_all(std::string_view name) {
  return !name.starts_with("broadcast") && !name.starts_with("_broadcast") && name != "reduce" &&
         !name.starts_with("_reduce_oop") && name != "gather" && name != "scatter";
}

// No job comes near, whose calls mostly have the same number on all ranks: what exceeds it is not
// looked at, and nothing is concluded from it.
constexpr std::size_t kMostEdges = std::size_t{1} << 19U;
constexpr std::size_t kMostSteps = std::size_t{1} << 31U;

struct Call {
  const GroupState* group = nullptr;
  const FlightOperation* operation = nullptr;  // of a rank that waits in it
  bool done = false;                           // by some
};

class Builder {
 public:
  Builder(const std::vector<GroupState>& groups, const Dumps& dumps)
      : heads_(find_heads(groups, dumps)) {
    for (const GroupState& group : groups) {
      for (const std::int32_t rank : group.ranks) nodes_.try_emplace(rank, 0);
      for (const auto& [rank, member] : group.members) groups_[rank].push_back(&group);
    }
    for (auto& [rank, node] : nodes_) {
      node = ranks_.size();
      ranks_.push_back(rank);
    }
    unseen_ = ranks_.size();
    ranks_.push_back(kNoRank);
    graph_ = Graph(ranks_.size());
    for (const auto& [rank, head] : heads_) {
      if (head.waits_long) add_rank(rank, head);
    }
    settle_uncertain();
  }

  WaitGraph result() {
    WaitGraph made;
    for (const auto& [rank, head] : heads_) {
      if (head.waits_long) made.waiting.insert(rank);
    }
    std::vector<Node> component(num_vertices(graph_));
    const std::size_t count = boost::strong_components(
        graph_,
        boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph_)));
    std::vector<std::vector<Node>> members(count);
    std::vector<bool> ends(count, true);
    for (Node node = 0; node < component.size(); ++node) {
      members[component[node]].push_back(node);
      for (const auto edge : boost::make_iterator_range(out_edges(node, graph_))) {
        if (component[target(edge, graph_)] != component[node]) ends[component[node]] = false;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (ends[i]) add_end(members[i], made);
    }
    return made;
  }

 private:
  bool is_call(Node node) const { return node >= ranks_.size(); }
  const Call& call(Node node) const { return calls_[node - ranks_.size()]; }

  Node add_call(const GroupState& group, const FlightOperation& operation) {
    calls_.push_back({&group, &operation, false});
    return add_vertex(graph_);
  }

  void add_rank(std::int32_t rank, const Head& head) {
    for (const auto& [group, operation] : head.parts) {
      if (operation->p2p) {
        const Node node = add_call(*group, *operation);
        add_edge(nodes_.at(rank), node, graph_);
        add_peer(node, rank);
      } else {
        add_collective(rank, *group, *operation);
      }
    }
    if (head.certain) return;
    // Who is missing from any of its calls holds it up, whichever is the first.
    add_edge(nodes_.at(rank), unseen_, graph_);
    for (const GroupState* group : groups_.at(rank)) {
      const MemberState& member = group->members.at(rank);
      const auto pending = member.first_pending();
      if (pending) add_collective(rank, *group, *member.calls.at(*pending));
    }
  }

  void add_collective(std::int32_t rank, const GroupState& group,
                      const FlightOperation& operation) {
    const auto [known, is_new] = collectives_.try_emplace({&group, operation.sequence}, 0);
    if (is_new) {
      known->second = add_call(group, operation);
      add_members(known->second);
    }
    add_edge(nodes_.at(rank), known->second, graph_);
  }

  void add_members(Node node) {
    const GroupState& group = *call(node).group;
    const std::int64_t sequence = call(node).operation->sequence;
    if (num_edges(graph_) + group.ranks.size() > kMostEdges) {
      add_edge(node, unseen_, graph_);
      return;
    }
    std::vector<Node> unknown;
    for (const std::int32_t rank : group.ranks) {
      switch (group.place_of(rank, sequence)) {
        case GroupState::Place::waiting:
        case GroupState::Place::absent:
          add_edge(node, nodes_.at(rank), graph_);
          break;
        case GroupState::Place::done:
          calls_[node - ranks_.size()].done = true;
          break;
        case GroupState::Place::unknown:
          unknown.push_back(nodes_.at(rank));
          break;
      }
    }
    // Where some are done, all have begun.
    if (call(node).done && needs_all(call(node).operation->name)) return;
    for (const Node to : unknown) uncertain_.emplace_back(node, to);
  }

  // The other end of a send or receive. Where it cannot be counted, what the peer waits in first
  // may be it; what is behind that may be a later one.
  void add_peer(Node node, std::int32_t rank) {
    const GroupState& group = *call(node).group;
    const FlightOperation& operation = *call(node).operation;
    const auto peer = peer_of(operation.name);
    if (!peer || peer->peer >= group.ranks.size()) return;
    const std::int32_t other = group.ranks[peer->peer];
    auto theirs = Counterpart::unknown;
    bool meets = false;
    if (group.members.contains(other)) {
      theirs = find_counterpart(groups_.at(rank), group, rank, operation, other);
      const auto head = heads_.find(other);
      meets =
          head != heads_.end() && std::ranges::any_of(head->second.parts, [&](const auto& part) {
            return part.first == &group &&
                   is_other_end(group, rank, operation, other, *part.second);
          });
    }
    if (theirs == Counterpart::done) {
      calls_[node - ranks_.size()].done = true;
    } else if (theirs != Counterpart::unknown || meets) {
      add_edge(node, nodes_.at(other), graph_);
    } else {
      uncertain_.emplace_back(node, nodes_.at(other));
    }
  }

  // The nodes from which the edges lead to this one. A rank whose first pending call is not known
  // may be before those that are.
  std::vector<bool> leading_to(Node node) const {
    std::vector<bool> seen(num_vertices(graph_), false);
    std::vector<Node> open{node};
    while (!open.empty()) {
      const Node next = open.back();
      open.pop_back();
      for (const auto edge : boost::make_iterator_range(in_edges(next, graph_))) {
        const Node from = source(edge, graph_);
        if (seen[from] || (!is_call(from) && !heads_.at(ranks_[from]).certain)) continue;
        open.push_back(from);
        seen[from] = true;
      }
    }
    return seen;
  }

  // Of what is certain, does it lead back? Then the member has made its part.
  void settle_uncertain() {
    std::vector<std::pair<Node, Node>> kept;
    if (uncertain_.size() * num_edges(graph_) > kMostSteps) std::swap(kept, uncertain_);
    for (std::size_t i = 0; i < uncertain_.size();) {
      const Node from = uncertain_[i].first;
      const std::vector<bool> leads_back = leading_to(from);
      for (; i < uncertain_.size() && uncertain_[i].first == from; ++i) {
        if (leads_back[uncertain_[i].second]) {
          calls_[from - ranks_.size()].done = true;
        } else {
          kept.push_back(uncertain_[i]);
        }
      }
    }
    for (const auto& [from, to] : kept) add_edge(from, to, graph_);
    std::ranges::sort(kept);
    uncertain_ = std::move(kept);
  }

  bool is_uncertain(Node from, Node to) const {
    return std::ranges::binary_search(uncertain_, std::pair(from, to));
  }

  void add_end(const std::vector<Node>& members, WaitGraph& made) const {
    if (members.size() == 1 && !is_call(members[0])) return add_rank_end(members[0], made);
    WaitEnd end;
    std::set<std::int32_t> absent;
    std::size_t calls = 0;
    bool certain = true;
    for (const Node node : members) {
      if (!is_call(node)) {
        end.ranks.insert(ranks_[node]);
        continue;
      }
      ++calls;
      // A send or receive that waits for nobody: its own rank does not finish it.
      if (members.size() == 1) end.ranks = waiting_in(node);
      if (end.call == nullptr || call(node).done) {
        end.group = call(node).group;
        end.call = call(node).operation;
      }
      if (call(node).done) end.kind = Kind::stuck;
      for (const auto edge : boost::make_iterator_range(out_edges(node, graph_))) {
        const Node to = target(edge, graph_);
        if (is_uncertain(node, to)) certain = false;
        if (is_absent(node, to)) absent.insert(ranks_[to]);
      }
    }
    if (calls > 1) end.kind = absent.empty() ? Kind::unknown : Kind::absent;
    if (calls > 1) end.ranks = absent;
    if (!certain) end.kind = Kind::unknown;
    if (end.kind == Kind::unknown) end.ranks.clear();
    made.ends.push_back(std::move(end));
  }

  std::set<std::int32_t> waiting_in(Node node) const {
    std::set<std::int32_t> ranks;
    for (const auto edge : boost::make_iterator_range(in_edges(node, graph_))) {
      const std::int32_t rank = ranks_[source(edge, graph_)];
      if (heads_.at(rank).certain) ranks.insert(rank);
    }
    return ranks;
  }

  bool is_absent(Node node, Node to) const {
    const Call& made = call(node);
    return !made.operation->p2p &&
           made.group->place_of(ranks_[to], made.operation->sequence) == GroupState::Place::absent;
  }

  // A rank that waits for nobody.
  void add_rank_end(Node node, WaitGraph& made) const {
    if (node == unseen_) return;
    WaitEnd end;
    for (const auto edge : boost::make_iterator_range(in_edges(node, graph_))) {
      const Node from = source(edge, graph_);
      const bool absent = is_absent(from, node);
      if (end.call != nullptr && !absent) continue;
      end.group = call(from).group;
      end.call = call(from).operation;
      if (absent) end.kind = Kind::absent;
      if (!absent && call(from).operation->p2p) end.kind = Kind::behind;
      if (absent) break;
    }
    if (end.call == nullptr) return;
    const bool known = end.group->members.contains(ranks_[node]);
    if (!known) end.kind = Kind::unknown;
    if (end.kind != Kind::unknown) end.ranks.insert(ranks_[node]);
    made.ends.push_back(std::move(end));
  }

  std::map<std::int32_t, Head> heads_;
  std::map<std::int32_t, std::vector<const GroupState*>> groups_;  // of a rank
  std::map<std::int32_t, Node> nodes_;
  std::vector<std::int32_t> ranks_;  // by node; the calls are behind them
  Node unseen_ = 0;                  // what a dump no longer has
  std::vector<Call> calls_;
  std::map<std::pair<const GroupState*, std::int64_t>, Node> collectives_;
  std::vector<std::pair<Node, Node>> uncertain_;  // those of a call are together
  Graph graph_;
};

}  // namespace

WaitGraph wait_graph(const std::vector<GroupState>& groups,
                     const std::map<std::int32_t, RankDump>& dumps) {
  return Builder(groups, dumps).result();
}

}  // namespace trainwatch
