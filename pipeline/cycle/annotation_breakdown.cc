#include "pipeline/cycle/annotation_breakdown.h"

namespace trainwatch {

std::vector<NameStats> annotations_by_name(const SelectedCycle& selected, bool on_device,
                                           std::size_t most) {
  std::vector<NamedDuration> durations;
  for (const AnnotationRow& row : selected.cycle().annotations) {
    if (row.on_device == on_device && selected.counts(row))
      durations.push_back({row.name, row.duration_ns});
  }
  return durations_by_name(selected.cycle().names, std::move(durations), most);
}

}  // namespace trainwatch
