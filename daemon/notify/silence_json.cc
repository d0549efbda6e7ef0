// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/silence_json.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <utility>

#include "daemon/config/config_text.h"
#include "daemon/net/url.h"
#include "pipeline/engine/alert_json.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostText = 512;

using Member = std::string Silence::*;
constexpr std::array<std::pair<std::string_view, Member>, 4> kSubject{{{"job", &Silence::job},
                                                                       {"node", &Silence::node},
                                                                       {"rank", &Silence::rank},
                                                                       {"gpu", &Silence::gpu}}};

// Whether "0-3,7" contains "2".
bool contains_rank(std::string_view ranks, std::string_view rank) {
  const auto wanted = parse_unsigned(rank);
  for (const std::string& part : split_list(ranks)) {
    const auto dash = part.find('-');
    const auto first = parse_unsigned(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_unsigned(part.substr(dash + 1));
    if (wanted && first && last && *first <= *wanted && *wanted <= *last) return true;
  }
  return false;
}

Error wrong(std::string_view key, const std::string& what) {
  return Error{std::string(key) + ": " + what};
}

Result<std::string> text_of_value(std::string_view key, const simdjson::dom::element& value) {
  std::string_view text;
  std::int64_t number = 0;
  if (value.get_string().get(text) == simdjson::SUCCESS) {
    if (text.size() > kMostText) return wrong(key, "is too long");
    return std::string(text);
  }
  const bool may_be_number = key == "rank" || key == "gpu";
  if (may_be_number && value.get_int64().get(number) == simdjson::SUCCESS && number >= 0) {
    return std::to_string(number);
  }
  return wrong(key, "must be text");
}

Result<Time> time_of(std::string_view key, const std::string& text) {
  const Time time = time_from_rfc3339(text);
  if (time == kNoTime)
    return wrong(key, "'" + text + "' is not a time such as 2026-11-25T18:00:00Z");
  return time;
}

Status read_subject(const simdjson::dom::element& value, Silence& silence) {
  simdjson::dom::object subject;
  if (value.get_object().get(subject) != simdjson::SUCCESS) {
    return wrong("subject", "must be an object");
  }
  for (const auto& [key, each] : subject) {
    const auto* const known =
        std::ranges::find(kSubject, key, &std::pair<std::string_view, Member>::first);
    if (known == kSubject.end()) return wrong("subject." + std::string(key), "unknown key");
    auto text = text_of_value(key, each);
    if (!text) return text.error();
    silence.*(known->second) = std::move(*text);
  }
  return success();
}

Status read_key(std::string_view key, const simdjson::dom::element& value, Time now,
                Silence& silence) {
  if (key == "subject") return read_subject(value, silence);
  if (value.is_null()) return success();
  auto text = text_of_value(key, value);
  if (!text) return text.error();
  if (key == "from" || key == "until") {
    const auto time = time_of(key, *text);
    if (!time) return time.error();
    (key == "from" ? silence.from : silence.until) = *time;
  } else if (key == "duration") {
    const auto duration = parse_duration(*text);
    if (!duration) return wrong(key, duration.error().message);
    silence.until = now + *duration;
  } else if (key == "rule" || key == "comment" || key == "id") {
    (key == "rule" ? silence.rule : key == "id" ? silence.id : silence.comment) = std::move(*text);
  } else {
    return wrong(key, "unknown key");
  }
  return success();
}

}  // namespace

bool matches(const Silence& silence, const NotifiedAlert& alert) {
  const auto is = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  return is(silence.rule, alert.shown.rule) && is(silence.job, alert.job) &&
         is(silence.node, alert.node) && is(silence.gpu, alert.gpu) &&
         (is(silence.rank, alert.rank) || contains_rank(alert.ranks, silence.rank));
}

void write_silence(JsonWriter& json, const Silence& silence) {
  json.begin_object();
  if (!silence.id.empty()) json.field("id", silence.id);
  if (!silence.rule.empty()) json.field("rule", silence.rule);
  json.key("subject").begin_object();
  for (const auto& [key, member] : kSubject) {
    if (!(silence.*member).empty()) json.field(key, silence.*member);
  }
  json.end_object();
  write_time(json, "from", silence.from);
  write_time(json, "until", silence.until);
  json.field("comment", silence.comment).end_object();
}

Result<Silence> parse_silence(std::string_view json, Time now) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string text(json);
  if (parser.parse(text).get_object().get(object) != simdjson::SUCCESS) {
    return Error{"the body must be a JSON object"};
  }
  Silence silence;
  for (const auto& [key, value] : object) {
    if (const Status read = read_key(key, value, now, silence); !read) return read.error();
  }
  if (const Status sound = check_silence(silence); !sound) return sound.error();
  return silence;
}

}  // namespace trainwatch
