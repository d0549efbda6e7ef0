// SPDX-License-Identifier: Apache-2.0
// The net thread's access to the engine thread: stored alerts, analyses and
// charts. Net thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/net/alert_hub.h"
#include "daemon/net/chart_query.h"
#include "daemon/net/http_message.h"
#include "daemon/net/tensor_query.h"
#include "daemon/net/trace_query.h"
#include "pipeline/state/state_store.h"
#include "trainwatch/result.h"

namespace trainwatch {

// At most this many stored alerts are requested at once.
inline constexpr std::size_t kAlertPage = 256;

// What a receiver of notifications has got, or other notes of the net thread: one commit.
struct KeptDelivery {
  std::string name;       // of the receiver as a subscriber; empty: only the notes
  std::uint64_t seq = 0;  // it needs nothing up to this one any more
  Notes notes;            // see Commit
  bool forget = false;    // the receiver is gone
  // Called on the net thread once it is stored, or cannot be. May be empty.
  std::function<void()> stored{};
};

struct AlertStoreClient {
  // The oldest alerts with a higher number than requested, or why the store cannot be read.
  using Page = Result<std::vector<PublishedAlertPtr>>;
  using Done = std::function<void(Page)>;

  // Requests at most `limit` stored alerts with seq > `after`, oldest first, without gaps. `done`
  // is called on the net thread, never within the call; it is dropped if the store closes first.
  std::function<void(std::uint64_t after, std::size_t limit, Done done)> fetch;

  // Requests at most `limit` of the alerts that fire, each in its latest version, oldest first.
  std::function<void(std::size_t limit, Done done)> fetch_firing{};

  // Stores the position of a named subscriber: nothing newer is dropped by age or number, up to the
  // store's hard limit.
  std::function<void(const std::string& name, std::uint64_t seq)> acknowledge;

  std::function<void(KeptDelivery kept)> keep{};

  // The named subscribers at the start.
  std::map<std::string, std::uint64_t> acknowledged{};
};

// The parameters of GET /api/v1/analyses/NAME.
struct AnalysisQuery {
  std::string name;
  std::optional<std::string> job;  // required if there are several
};

// Requests the current result of an analysis. `done` is called on the net thread, never within the
// call: with 404 for an analysis that is not running, 400 if a job must be chosen. It is dropped if
// the daemon ends first.
using AnalysisSource = std::function<void(AnalysisQuery query, DeferredResponse::Done done)>;
// The same for what a chart shows.
using ChartSource = std::function<void(ChartQuery query, DeferredResponse::Done done)>;
// And for what ran in a span of time, which is read from files.
using TraceSource = std::function<void(TraceQuery query, DeferredResponse::Done done)>;
// And for tensors that SageMaker Debugger saved.
using TensorSource = std::function<void(TensorQuery query, DeferredResponse::Done done)>;

// Where the responses come from that the net thread does not have. Any may be empty: 404.
struct DataSources {
  AnalysisSource analyses{};
  ChartSource charts{};
  TraceSource traces{};
  // Of /api/v1/silences: any method.
  std::function<HttpResponse(const HttpRequest& request)> silences{};
  bool may_change = false;  // silences
  // Reads the configuration again; empty: clients may not ask for it.
  std::function<Status()> reload{};
  TensorSource tensors{};
  // Has a snapshot made, unless there is a fresh one, and one each second for some seconds. `done`
  // is called on the net thread after it came, never within the call; it is dropped if the daemon
  // ends first. Empty: snapshots come anyway.
  std::function<void(std::function<void()> done)> refresh{};
};

}  // namespace trainwatch
