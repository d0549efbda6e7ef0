// SPDX-License-Identifier: Apache-2.0
// Answers to GET /api/v1/tensors and /api/v1/tensors/value, and what the stream `tensors` says. For
// the thread of a request, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/app/file_worker.h"
#include "daemon/app/watched_trials.h"
#include "daemon/net/http_message.h"
#include "daemon/net/stream_protocol.h"
#include "daemon/net/tensor_query.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

class TensorResponder {
 public:
  // A value takes at most so much memory, with everything that is made of it; more is 413.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;
  static constexpr std::size_t kMostListBytes = std::size_t{16} << 20U;  // of a list of trials
  // Of the steps that are announced at once, the latest; of the names of a step, the first.
  static constexpr std::size_t kMostSteps = 64;
  static constexpr std::size_t kMostNames = 256;

  explicit TensorResponder(std::vector<WatchRoot> roots) : trials_(std::move(roots)) {}

  HttpResponse respond(RequestFiles& files, const TensorQuery& query);

  // The steps that have become complete, and the trials that have ended, since the last call; the
  // first call speaks of all of them. The object that the message `tensor` has, beside its `op` and
  // `dropped`; empty: nothing is new. Looks for new trials if `find`.
  TensorNews news(RequestFiles& files, bool find);

 private:
  HttpResponse list(RequestFiles& files, const TensorQuery& query);
  HttpResponse value(RequestFiles& files, const TensorQuery& query);

  WatchedTrials trials_;
};

}  // namespace trainwatch
