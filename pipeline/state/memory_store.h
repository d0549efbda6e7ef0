// A store that lives as long as the process: each start is a new epoch, and a client that resumes
// is told so with `reset`.
#pragma once

#include "pipeline/state/state_store.h"

namespace trainwatch {

class MemoryStore final : public StateStore {
 public:
  // `epoch`: unique to this start of the process.
  explicit MemoryStore(std::string epoch) : epoch_(std::move(epoch)) {}

  const std::string& epoch() const override { return epoch_; }
  Result<PublishedAlerts> commit(std::vector<Alert> alerts) override;

 private:
  std::string epoch_;
  std::uint64_t last_seq_ = 0;
};

}  // namespace trainwatch
