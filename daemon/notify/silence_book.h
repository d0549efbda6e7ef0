// SPDX-License-Identifier: Apache-2.0
// All silences: those of the configuration, and those that people set over the API, which survive a
// restart. Net thread only; no clock.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/config/silence.h"
#include "daemon/notify/notified_alert.h"
#include "pipeline/state/state_store.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

class SilenceBook {
 public:
  static constexpr std::size_t kMost = 1000;                       // set over the API
  static constexpr Nanos kLongest = std::chrono::hours(24 * 366);  // of those
  static constexpr std::string_view kNotePrefix = "silence/";

  using Keep = std::function<void(Notes notes)>;

  // `kept` are all notes of the store; `keep` stores some.
  SilenceBook(const Notes& kept, Keep keep, Time now);

  void configure(std::vector<Silence> configured) { configured_ = std::move(configured); }

  bool covers(const NotifiedAlert& alert, Time now) const;

  // Gives it an id. Fails without an end, for one in the past or too far away, and if there are too
  // many.
  Result<Silence> add(Silence silence, Time now);
  // False: there is none with this id.
  bool remove(const std::string& id);
  // Forgets those that are over. Call about once a second.
  void expire(Time now);

  // {"silences":[…]}: those of the configuration first.
  std::string json() const;

 private:
  std::vector<Silence> configured_;
  std::map<std::string, Silence> set_;  // by id
  Keep keep_;
};

}  // namespace trainwatch
