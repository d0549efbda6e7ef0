// SPDX-License-Identifier: Apache-2.0
// What the state line of `run` and `follow` says: how long the latest iterations took, and the
// sentence on top of the run that is worst off. From the JSON that the engine publishes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "daemon/terminal/sparkline.h"
#include "trainwatch/time.h"

namespace trainwatch {

class StateLine {
 public:
  // {"steps":[…]}, or a frame that has them: the training steps among them are one more column, of
  // the mean iteration time.
  void on_steps(std::string_view json);
  struct News {
    bool state = false;    // the run is another one, or does something else than before
    bool monitor = false;  // trainwatch has another problem of its own
  };
  // The body of /api/v1/runs, or a frame that has its fields.
  News on_runs(std::string_view json);

  // What trainwatch itself lacks; empty: nothing.
  const std::string& monitor() const { return monitor_; }

  // One line. `now`: processing time.
  std::string text(Time now) const;
  // The same without the iteration times.
  std::string sentence(Time now) const;

 private:
  struct Run {
    std::string job;
    std::string state;
    std::string headline;
    Time since = kNoTime;
  };

  Sparkline iterations_;
  std::string monitor_;
  Run worst_;
  std::size_t runs_ = 0;
};

}  // namespace trainwatch
