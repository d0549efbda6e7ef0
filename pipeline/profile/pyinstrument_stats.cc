// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/pyinstrument_stats.h"

#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/profile/python_function.h"

namespace trainwatch {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// Two JSON levels per frame, one for it and one for its children, and some around the tree.
constexpr std::size_t kMaxJsonDepth = 2 * PyinstrumentStats::kMaxFrames + 8;
constexpr std::string_view kSelf = "[self]";

std::optional<std::int64_t> time_of(const object& from, std::string_view key) {
  double seconds = 0;
  if (from[key].get(seconds) != simdjson::SUCCESS) return std::nullopt;
  return seconds_to_ns(seconds);
}

std::string text_of(const object& from, std::string_view key) {
  std::string_view text;
  return from[key].get(text) == simdjson::SUCCESS ? std::string{text} : std::string{};
}

std::int64_t integer_of(const object& from, std::string_view key) {
  std::int64_t value = 0;
  return from[key].get(value) == simdjson::SUCCESS ? value : 0;
}

}  // namespace

// Walks the tree of frames with an explicit stack: it is as deep as the program's stack was.
class FrameWalk {
 public:
  explicit FrameWalk(PyinstrumentStats& stats) : stats_(stats) {}

  Status walk(element root) {
    if (Status entered = enter(root); !entered) return entered;
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (!top.has_children || top.next == top.end) {
        leave();
        continue;
      }
      const element child = *top.next;
      ++top.next;
      if (Status entered = enter(child); !entered) return entered;
    }
    return success();
  }

 private:
  struct Frame {
    PyinstrumentStats::Table::Entry* entry;
    std::int64_t total_ns;
    std::int64_t self_ns;
    bool has_children = false;  // the iterators are valid
    simdjson::dom::array::iterator next{};
    simdjson::dom::array::iterator end{};
  };

  Status enter(element value) {
    object frame;
    if (value.get(frame) != simdjson::SUCCESS) return Error{"a frame is not an object"};
    std::string_view name;
    const auto time = time_of(frame, "time");
    if (frame["function"].get(name) != simdjson::SUCCESS || !time) {
      return Error{"a frame without function or time"};
    }
    if (name == kSelf && !stack_.empty()) return success();  // counts as its caller's self time
    PythonFunction function{text_of(frame, "file_path"), integer_of(frame, "line_no"),
                            std::string{name}};
    const bool too_long =
        std::max(function.file.size(), function.name.size()) > PythonFunction::kMaxNameBytes;
    auto* const entry = too_long ? nullptr : stats_.table_.entry(function);
    if (entry == nullptr) return Error{"the names are too long for one profile"};
    if (!stack_.empty()) stack_.back().self_ns = saturating_add(stack_.back().self_ns, -*time);
    ++open_[entry];
    Frame& entered = stack_.emplace_back(Frame{entry, *time, *time});
    simdjson::dom::array children;
    if (frame["children"].get(children) == simdjson::SUCCESS) {
      entered.has_children = true;
      entered.next = children.begin();
      entered.end = children.end();
    }
    return success();
  }

  void leave() {
    const Frame& frame = stack_.back();
    // Each time is rounded to a microsecond, so children may exceed their caller.
    SampledTime time{std::max<std::int64_t>(frame.self_ns, 0), 0};
    if (--open_[frame.entry] == 0) time.total_ns = frame.total_ns;
    frame.entry->second += time;
    stack_.pop_back();
  }

  PyinstrumentStats& stats_;
  std::vector<Frame> stack_;
  std::map<const PyinstrumentStats::Table::Entry*, int> open_;  // its frames on the stack
};

SampledTime& SampledTime::operator+=(const SampledTime& other) {
  self_ns = saturating_add(self_ns, other.self_ns);
  total_ns = saturating_add(total_ns, other.total_ns);
  return *this;
}

Result<PyinstrumentStats> PyinstrumentStats::parse(std::string_view json) {
  if (json.size() > kMaxBytes)
    return Error{"a profile of " + std::to_string(json.size()) + " bytes"};
  simdjson::dom::parser parser;
  simdjson::error_code error = parser.allocate(json.size(), kMaxJsonDepth);
  object session;
  if (error == simdjson::SUCCESS) {
    error = parser.parse(simdjson::padded_string(json)).get(session);
  }
  if (error != simdjson::SUCCESS) return Error{simdjson::error_message(error)};
  element root;
  if (session["root_frame"].get(root) != simdjson::SUCCESS) {
    return Error{"no session of pyinstrument: it has no root_frame"};
  }
  PyinstrumentStats stats;
  stats.duration_ns_ = time_of(session, "duration").value_or(0);
  stats.samples_ = integer_of(session, "sample_count");
  if (root.is_null()) return stats;  // nothing was sampled
  if (const Status walked = FrameWalk{stats}.walk(root); !walked) return walked.error();
  return stats;
}

void PyinstrumentStats::add(const PyinstrumentStats& other) {
  for (const auto& [function, time] : other.table_.rows()) {
    Table::Entry* const mine = table_.entry(function);
    if (mine == nullptr) {
      ++dropped_;
    } else {
      mine->second += time;
    }
  }
  duration_ns_ = saturating_add(duration_ns_, other.duration_ns_);
  samples_ = saturating_add(samples_, other.samples_);
  dropped_ += other.dropped_;
}

std::vector<const PyinstrumentStats::Table::Entry*> PyinstrumentStats::top_by_total_time(
    std::size_t count) const {
  return table_.top(count, [](const SampledTime& time) { return time.total_ns; });
}

}  // namespace trainwatch
