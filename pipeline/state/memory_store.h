// A store in memory, for runs without a state directory and for simulations, where it outlives the
// pipeline that is killed.
#pragma once

#include <deque>

#include "pipeline/state/state_store.h"

namespace trainwatch {

class MemoryStore final : public StateStore {
 public:
  explicit MemoryStore(std::string epoch, Retention retention = {})
      : epoch_(std::move(epoch)), retention_(retention) {}

  const std::string& epoch() const override { return epoch_; }
  Result<std::vector<StateRow>> load() override;
  Result<PublishedAlerts> commit(const Commit& commit) override;
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) override;
  std::uint64_t first_seq() const override;
  std::uint64_t last_seq() const override { return last_seq_; }
  const Acknowledged& acknowledged() const override { return acknowledged_; }

  // While not empty, every commit fails with this message.
  void fail(std::string why) { failure_ = std::move(why); }

 private:
  struct Kept {
    std::shared_ptr<const PublishedAlert> alert;
    Time stored{};
  };
  void prune(Time now);

  std::string epoch_;
  Retention retention_;
  std::map<std::string, std::string> rows_;
  std::map<std::string, LastPublished> last_published_;  // by alert id
  std::deque<Kept> alerts_;
  std::uint64_t last_seq_ = 0;
  Acknowledged acknowledged_;
  std::string failure_;
};

}  // namespace trainwatch
