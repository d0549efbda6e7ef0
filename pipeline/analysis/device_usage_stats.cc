// How many samples of CPU cores and GPUs were idle, in use, and fully used.
#include <array>
#include <string>

#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/series_groups.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

struct Usage {
  std::uint64_t idle = 0;   // 0..10 %
  std::uint64_t used = 0;   // 10..90 %
  std::uint64_t fully = 0;  // 90..100 %
};

SeriesGroup type_of_node(const Vocabulary&, SeriesGroup of, const Series&) {
  return {of.node, of.type, Symbol::none, Symbol::none};
}

class DeviceUsageStats final : public Analysis {
 public:
  explicit DeviceUsageStats(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), groups_(vocabulary, type_of_node) {}

  // A value on the edge of two ranges is in the upper one, as in SageMaker's.
  void on(const Event& event) override {
    const auto* sample = std::get_if<Sample>(&event);
    if (sample == nullptr) return;
    Usage& usage = groups_.of(sample->series).second;
    if (sample->value >= 90 && sample->value <= 100) {
      ++usage.fully;
    } else if (sample->value >= 10 && sample->value < 90) {
      ++usage.used;
    } else if (sample->value >= 0 && sample->value < 10) {
      ++usage.idle;
    }
  }

  void state(StateIo& io) override { io(groups_); }

  void write(JsonWriter& json) const override {
    std::map<std::pair<std::string, std::string>, Usage> ordered;
    for (const auto& [group, usage] : groups_.all()) {
      const std::string type(vocabulary_.text(group.type));
      if (type != "cpu" && type != "gpu") continue;
      ordered[{type, vocabulary_.subjects[group.node].node}] = usage;
    }
    JsonTable table(json, {"type", "nodeID", "(0, 10)", "(10, 90)", "(90, 100)"});
    for (const auto& [key, usage] : ordered) {
      table.row(key.first, key.second, usage.idle, usage.used, usage.fully);
    }
    table.end();
  }

 private:
  const Vocabulary& vocabulary_;
  SeriesGroups<Usage> groups_;
};

}  // namespace

extern const AnalysisSpec device_usage_stats_spec = {
    "device_usage_stats",
    "Samples of CPU cores and GPUs that were idle, in use and fully used",
    true,
    {},
    make_analysis<DeviceUsageStats>};

}  // namespace trainwatch
