// The answer to one GET /api/v1/analyses/NAME. No sockets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/net/deferred_response.h"

namespace trainwatch {

struct AnalysisQuery {
  std::string name;
  std::optional<std::string> job;  // needed where there are several
};

// Gives the result of an analysis now. `done` is called on the net thread, never within the call:
// with 404 for an analysis that does not run here, 400 where a job must be chosen. It is dropped
// when the daemon ends first.
using AnalysisSource = std::function<void(AnalysisQuery query, DeferredResponse::Done done)>;

class AnalysisResponse final : public DeferredResponse,
                               public std::enable_shared_from_this<AnalysisResponse> {
 public:
  // `source` must outlive it.
  AnalysisResponse(const AnalysisSource& source, AnalysisQuery query)
      : source_(source), query_(std::move(query)) {}

  void later(Done done) override {
    done_ = std::move(done);
    source_(query_, [weak = weak_from_this()](HttpResponse reply) {
      if (const auto self = weak.lock()) self->done_(std::move(reply));
    });
  }

 private:
  const AnalysisSource& source_;
  AnalysisQuery query_;
  Done done_;
};

}  // namespace trainwatch
