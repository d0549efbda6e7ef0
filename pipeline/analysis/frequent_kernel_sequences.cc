// HTA's frequent sequences of kernels: what operators launch again and again.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/cycle/durations_by_name.h"
#include "pipeline/cycle/kernel_sequences.h"

namespace trainwatch {
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
  FrequentKernelSequences(const Vocabulary& vocabulary, const AnalysisOptions& options)
      : CycleAnalysis(vocabulary, options.steps), op_(options.op) {}

  void write(JsonWriter& json) const override {
    JsonTable table(json, {"operator", "kernels", "length", "count", "gpu_kernel_duration_ns",
                           "cpu_op_duration_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleSequences& cycle) {
      for (const SequenceRow& of : cycle.rows) {
        table.row(of.op, of.kernels, of.length, of.count, of.device_ns, of.host_ns, key.rank,
                  key.cycle, key.node);
      }
    });
    table.end_rows();
    end(json);
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

AnalysisSpec make_spec() {
  auto spec = cycle_analysis_spec<FrequentKernelSequences>(
      "frequent_kernel_sequences", "Which sequences of kernels operators launch most often");
  spec.live = false;
  spec.host_rows = true;
  return spec;
}

}  // namespace

extern const AnalysisSpec frequent_kernel_sequences_spec = make_spec();

}  // namespace trainwatch
