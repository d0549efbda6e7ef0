// Fills CycleTrace::host and syncs while a document is read, for the analyses that ask for the
// events of the host. An event costs 32 bytes, a call 16 more until the document is complete.
//
// Rows are the "X" events with a duration and a category that is neither work of a device, nor a
// device's annotation, nor "Trace". Threads have numbers in the order in which the file names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/decode/correlation_index.h"
#include "pipeline/decode/cycle_names.h"
#include "pipeline/decode/event_category.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/launch_links.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"

namespace trainwatch {

class HostRows {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 22U;
  static constexpr std::size_t kMostSyncs = std::size_t{1} << 20U;
  static constexpr std::size_t kMostThreads = std::size_t{1} << 16U;

  // One event of this category, whole. nullopt: it was taken, or is none for these rows.
  std::optional<RejectReason> take(EventCategory category, std::string_view event,
                                   CycleNames& names);

  // All events were taken. Links the rows to launches, adds `base_ns` to their times, and puts
  // them into `cycle` in its order. Before LaunchLinks::finish(): calls that synchronisations name
  // become launches as well, with no rows.
  void finish(CycleTrace& cycle, LaunchLinks& links, std::int64_t base_ns);

 private:
  struct Tokens;
  struct Call {
    std::int64_t correlation = 0;
    std::uint32_t row = 0;  // index into rows_
  };
  // By correlation, what the calls that a synchronisation names are.
  struct Named {
    std::int64_t call = CorrelationIndex::kNone;
    std::int64_t event_record = CorrelationIndex::kNone;
  };

  std::optional<RejectReason> add_sync(const Tokens& tokens, CycleNames& names);
  std::optional<std::uint32_t> thread_of(const Tokens& tokens);
  void link_calls(CycleTrace& cycle, LaunchLinks& links);
  void link_syncs(CorrelationIndex& launches);

  std::vector<HostRow> rows_;
  std::vector<Call> calls_;  // of rows_, those with a correlation
  std::vector<SyncRow> syncs_;
  std::vector<Named> named_;  // as syncs_
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::string last_thread_;  // events of a thread mostly follow each other
  std::uint32_t last_thread_number_ = 0;
  std::uint64_t left_out_ = 0;
  StringReader strings_;
};

}  // namespace trainwatch
