// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/drain.h"

#include <utility>

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kLookEvery = std::chrono::milliseconds(10);

}  // namespace

void Drain::begin(Nanos timeout) {
  begun_ = true;
  deadline_ = SteadyClock::now() + timeout;
  timer_.start(kLookEvery, [this] { look(); });
  stages_.read(on_net(&Drain::judge));
}

void Drain::stop() {
  stage_ = Stage::over;
  timer_.stop();
}

Drain::Done Drain::on_net(void (Drain::*then)()) {
  return [this, then] {
    boost::asio::post(net_, [this, then] {
      if (stage_ != Stage::over) (this->*then)();
    });
  };
}

void Drain::judge() {
  stage_ = Stage::judging;
  stages_.judge(on_net(&Drain::judged));
}

void Drain::look() {
  const bool late = SteadyClock::now() >= deadline_;
  if (stage_ == Stage::delivering && (late || stages_.delivered()))
    return finish(Outcome::complete);
  if (stage_ != Stage::reading) return;
  // What was read so far is judged all the same: by whoever stops the engine.
  if (stages_.file_call() > kFileCallPatience) return finish(Outcome::hangs);
  if (late) finish(Outcome::too_long);
}

void Drain::finish(Outcome outcome) {
  stop();
  stages_.finished(outcome);
}

}  // namespace trainwatch
