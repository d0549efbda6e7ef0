// HTA's summary of memory bandwidth: copies and fills by kind.
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/memory_bandwidth.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostKinds = 64;  // of copies in a cycle

struct CycleBandwidth {
  std::vector<std::pair<std::string, Description>> kinds;

  void state(StateIo& io) {
    io(kinds);
    if (kinds.size() > kMostKinds) io.fail();
  }
};

class MemoryBwSummary final : public CycleAnalysis<CycleBandwidth> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"rank", "name", "memory_bw_gbps_count", "memory_bw_gbps_mean",
                                    "memory_bw_gbps_std", "memory_bw_gbps_min",
                                    "memory_bw_gbps_25%", "memory_bw_gbps_50%",
                                    "memory_bw_gbps_75%", "memory_bw_gbps_max", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleBandwidth& cycle) {
      for (const auto& [kind, of] : cycle.kinds) {
        table.row(key.rank, kind, of.count, of.mean, of.stddev, of.min, of.p25, of.p50, of.p75,
                  of.max, key.cycle, key.node);
      }
    });
    add_left_out(out);
    return out;
  }

 protected:
  CycleBandwidth result_of(const SelectedCycle& selected) override {
    CycleBandwidth found;
    for (const CopyBandwidth& of : memory_bandwidth(selected.cycle(), selected.rows())) {
      found.kinds.emplace_back(of.kind, summarize(of));
    }
    bound(found.kinds, kMostKinds);
    return found;
  }
};

}  // namespace

extern const AnalysisSpec memory_bw_summary_spec = cycle_analysis_spec<MemoryBwSummary>(
    "memory_bw_summary", "The bandwidth of copies to, from and on a GPU, by kind");

}  // namespace trainwatch
