// SPDX-License-Identifier: Apache-2.0
// HTA's frequent sequences of kernels: what operators launch again and again.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/cycle_results.h"
#include "pipeline/analysis/hta/durations_by_name.h"

namespace trainwatch {
namespace {

// Device activities by launch.
class ActivityByLaunch {
 public:
  ActivityByLaunch(const CycleTrace& cycle, DeviceRows rows) : begins_(cycle.launches.size() + 1) {
    const auto each_row = [&](auto&& use) {
      for (const std::uint32_t index : rows) {
        const DeviceActivity& row = cycle.device[index];
        if (row.launch != kNoLaunch && row.kind != DeviceKind::sync) use(row.launch, index);
      }
    };
    each_row([&](std::uint32_t launch, std::uint32_t) { ++begins_[launch + 1]; });
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    rows_.resize(begins_.back());
    std::vector<std::uint32_t> next = begins_;
    each_row([&](std::uint32_t launch, std::uint32_t index) { rows_[next[launch]++] = index; });
  }
  DeviceRows of(std::uint32_t launch) const {
    return DeviceRows(rows_).subspan(begins_[launch], begins_[launch + 1] - begins_[launch]);
  }

 private:
  std::vector<std::uint32_t> begins_;  // by launch: where its rows begin
  std::vector<std::uint32_t> rows_;
};

// Whether the caller asked for operators of a name.
std::vector<bool> names_asked_for(const NameTable& names, std::string_view text) {
  std::vector<bool> asked(names.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::string_view name = names.text(static_cast<NameId>(i));
    asked[i] = text.empty() ? !name.starts_with("ProfilerStep")
                            : name.find(text) != std::string_view::npos;
  }
  return asked;
}

class Sequences {
 public:
  explicit Sequences(const CycleTrace& cycle) : cycle_(cycle) {}

  // Reorders `rows`.
  void add(const HostEvent& op, std::vector<std::uint32_t>& rows) {
    if (rows.size() < kFewestKernels) return;
    std::sort(rows.begin(), rows.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(cycle_.device[a].start_ns, a) < std::pair(cycle_.device[b].start_ns, b);
    });
    Key key{op.name, {}};
    key.second.reserve(rows.size());
    std::int64_t device_ns = 0;
    for (const std::uint32_t row : rows) {
      key.second.push_back(cycle_.device[row].name);
      device_ns += cycle_.device[row].duration_ns;
    }
    Sums& sums = found_[std::move(key)];
    ++sums.count;
    sums.device_ns += device_ns;
    sums.host_ns += op.duration_ns;
  }

  std::vector<KernelSequence> take() {
    std::vector<KernelSequence> sorted;
    sorted.reserve(found_.size());
    while (!found_.empty()) {
      auto node = found_.extract(found_.begin());
      const Sums& sums = node.mapped();
      sorted.push_back({node.key().first, std::move(node.key().second), sums.count, sums.device_ns,
                        sums.host_ns});
    }
    std::sort(sorted.begin(), sorted.end(), [this](const auto& a, const auto& b) {
      if (a.count != b.count) return a.count > b.count;
      if (a.device_ns != b.device_ns) return a.device_ns > b.device_ns;
      return text_before(a, b);
    });
    return sorted;
  }

 private:
  using Key = std::pair<NameId, std::vector<NameId>>;
  struct Sums {
    std::uint64_t count = 0;
    std::int64_t device_ns = 0;
    std::int64_t host_ns = 0;
  };

  // Ids are in the order of the file.
  bool text_before(const KernelSequence& a, const KernelSequence& b) const {
    const NameTable& names = cycle_.names;
    if (a.op != b.op) return names.text(a.op) < names.text(b.op);
    return std::ranges::lexicographical_compare(
        a.kernels, b.kernels,
        [&](NameId one, NameId other) { return names.text(one) < names.text(other); });
  }

  const CycleTrace& cycle_;
  std::map<Key, Sums> found_;
};

}  // namespace

std::vector<KernelSequence> kernel_sequences(const CycleTrace& cycle, DeviceRows rows,
                                             std::string_view text) {
  const ActivityByLaunch by_launch(cycle, rows);
  const std::vector<bool> asked = names_asked_for(cycle.names, text);
  Sequences found(cycle);
  std::vector<std::uint32_t> kernels;
  const HostEvent* op = nullptr;  // the operator that launched the rows
  for (const HostEvent& row : cycle.host) {
    // A child begins when its operator does, or later; ends may be off by nanoseconds.
    const bool inside = op != nullptr && row.thread == op->thread &&
                        (row.start_ns < op->end_ns() || row.start_ns == op->start_ns);
    if (!inside) {
      if (op != nullptr) found.add(*op, kernels);
      kernels.clear();
      const bool wanted = asked[static_cast<std::size_t>(row.name)];
      op = wanted && (!text.empty() || row.kind == HostKind::op) ? &row : nullptr;
    }
    if (op == nullptr || row.launch == kNoLaunch) continue;
    const DeviceRows launched = by_launch.of(row.launch);
    kernels.insert(kernels.end(), launched.begin(), launched.end());
  }
  if (op != nullptr) found.add(*op, kernels);
  return found.take();
}

namespace {

constexpr std::size_t kMostSequences = 32;    // of a cycle
constexpr std::size_t kMostKernelNames = 64;  // of a sequence; what it counts is all of it

struct SequenceRow {
  std::string op;
  std::vector<std::string> kernels;  // names of the first ones
  std::uint64_t length = 0;
  std::uint64_t count = 0;
  std::int64_t device_ns = 0;
  std::int64_t host_ns = 0;

  void state(StateIo& io) {
    io(op);
    io(kernels);
    if (kernels.size() > kMostKernelNames) io.fail();
    io(length);
    io(count);
    io(device_ns);
    io(host_ns);
  }
};

struct CycleSequences {
  std::vector<SequenceRow> rows;

  void state(StateIo& io) {
    io(rows);
    if (rows.size() > kMostSequences) io.fail();
  }
};

SequenceRow row_of(const NameTable& names, const KernelSequence& sequence) {
  SequenceRow row{cut_name(names.text(sequence.op)),
                  {},
                  sequence.kernels.size(),
                  sequence.count,
                  sequence.device_ns,
                  sequence.host_ns};
  const std::size_t shown = std::min(sequence.kernels.size(), kMostKernelNames);
  for (std::size_t i = 0; i < shown; ++i)
    row.kernels.push_back(cut_name(names.text(sequence.kernels[i])));
  return row;
}

class FrequentKernelSequences final : public CycleAnalysis<CycleSequences> {
 public:
  FrequentKernelSequences(const Interner& interner, const AnalysisOptions& options)
      : CycleAnalysis(interner, options.steps), op_(options.op) {}

  Figures figures() const override {
    Figures out;
    FigureTable& table =
        out.table({"operator", "kernels", "length", "count", "gpu_kernel_duration_ns",
                   "cpu_op_duration_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleSequences& cycle) {
      for (const SequenceRow& of : cycle.rows) {
        table.row(of.op, of.kernels, of.length, of.count, of.device_ns, of.host_ns, key.rank,
                  key.cycle, key.node);
      }
    });
    add_left_out(out);
    return out;
  }

 protected:
  CycleSequences result_of(const SelectedCycle& selected) override {
    const CycleTrace& cycle = selected.cycle();
    std::vector<KernelSequence> sequences = kernel_sequences(cycle, selected.rows(), op_);
    bound(sequences, kMostSequences);
    CycleSequences found;
    for (const KernelSequence& sequence : sequences)
      found.rows.push_back(row_of(cycle.names, sequence));
    return found;
  }

 private:
  std::string op_;
};

}  // namespace

const AnalysisSpec& frequent_kernel_sequences_analysis() {
  static const AnalysisSpec spec = make_spec<FrequentKernelSequences>(
      {.name = "frequent_kernel_sequences",
       .summary = "Which sequences of kernels operators launch most often",
       .live = false,
       .host_events = true});
  return spec;
}

}  // namespace trainwatch
