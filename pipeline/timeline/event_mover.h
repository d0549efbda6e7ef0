// SPDX-License-Identifier: Apache-2.0
// Changes the events of one trace so that they can share a document with other traces.
//
// Processes are renumbered, because every trace numbers its GPUs from 0, and every container its
// processes. Process names get the rank's name as a prefix, and a rank's processes are sorted
// together. Flow ids, which viewers join across processes, are made unique, and times are shifted
// to a common base. Everything else stays as written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/timeline/event_tokens.h"

namespace trainwatch {

// The processes of the joint document.
class ProcessNumbers {
 public:
  struct Process {
    std::int64_t number = 0;  // from 1 on
    bool named = false;       // an event gave its name
    bool sorted = false;      // and one its position
  };

  // A group of processes shown under one name; two traces of a rank share a group.
  std::size_t group(const std::string& name);
  // `pid` is the token as written in the trace.
  Process& process(std::size_t group, std::string_view pid);
  const std::string& name(std::size_t group) const { return groups_[group].name; }

  // Emits metadata events for processes that no trace named or sorted.
  void emit_missing(const std::function<void(std::string_view event)>& event) const;

 private:
  struct Group {
    std::string name;
    std::map<std::string, Process, std::less<>> processes;  // by token
  };

  std::vector<Group> groups_;
  std::size_t count_ = 0;
};

class EventMover {
 public:
  // `trace` is the number of the trace in the document. `shift_ns` is added to all times.
  EventMover(ProcessNumbers& processes, std::size_t group, std::size_t trace, std::int64_t shift_ns)
      : processes_(processes), group_(group), trace_(trace), shift_ns_(shift_ns) {}

  // The changed event. Valid until the next call.
  std::string_view move(std::string_view event);

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::string text;
  };

  void replace(std::string_view event, std::string_view token, std::string text);
  void move_process(std::string_view event, const EventTokens& tokens);

  ProcessNumbers& processes_;
  std::size_t group_;
  std::size_t trace_;
  std::int64_t shift_ns_;
  std::vector<Edit> edits_;  // reused
  std::string moved_;
};

}  // namespace trainwatch
