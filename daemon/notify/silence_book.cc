// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/silence_book.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "daemon/notify/silence_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

std::string random_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) {
    char hex[9];
    std::snprintf(hex, sizeof hex, "%08x", random());
    id += hex;
  }
  return id;
}

}  // namespace

SilenceBook::SilenceBook(const Notes& kept, Keep keep, Time now) : keep_(std::move(keep)) {
  for (const auto& [key, value] : kept) {
    if (!key.starts_with(kNotePrefix)) continue;
    if (auto silence = parse_silence(value, now)) set_[silence->id] = std::move(*silence);
  }
}

bool SilenceBook::covers(const NotifiedAlert& alert, Time now) const {
  const auto applies = [&](const Silence& silence) {
    return silence.active(now) && matches(silence, alert);
  };
  return std::ranges::any_of(configured_, applies) ||
         std::ranges::any_of(set_, [&](const auto& entry) { return applies(entry.second); });
}

Result<Silence> SilenceBook::add(Silence silence, Time now) {
  if (silence.until == kNoTime) return Error{"until: is missing (or duration)"};
  if (silence.until <= now) return Error{"until: is in the past"};
  if (silence.until - now > kLongest) return Error{"until: is more than a year away"};
  if (set_.size() >= kMost)
    return Error{"there are " + std::to_string(kMost) + " silences already"};
  silence.id = random_id();
  JsonWriter json;
  write_silence(json, silence);
  keep_({{std::string(kNotePrefix) + silence.id, json.take()}});
  set_[silence.id] = silence;
  return silence;
}

bool SilenceBook::remove(const std::string& id) {
  if (set_.erase(id) == 0) return false;
  keep_({{std::string(kNotePrefix) + id, ""}});
  return true;
}

void SilenceBook::expire(Time now) {
  Notes over;
  for (const auto& [id, silence] : set_) {
    if (silence.expired(now)) over[std::string(kNotePrefix) + id] = "";
  }
  if (over.empty()) return;
  std::erase_if(set_, [now](const auto& entry) { return entry.second.expired(now); });
  keep_(std::move(over));
}

std::string SilenceBook::json() const {
  JsonWriter json;
  json.begin_object().key("silences").begin_array();
  for (const Silence& silence : configured_) write_silence(json, silence);
  for (const auto& [id, silence] : set_) write_silence(json, silence);
  return json.end_array().end_object().take();
}

}  // namespace trainwatch
