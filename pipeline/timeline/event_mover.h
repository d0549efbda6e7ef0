// Gives the events of one trace their place among those of others in one document.
//
// Processes get numbers of their own, by rank: GPUs are numbered from 0 in every trace, and
// processes in every container. The names of processes begin with the rank's, and a rank's
// processes stand together. Ids of flows, which viewers join over all processes, and times, where a
// trace counts from another base, are moved too. Everything else stays as it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

// The processes of a document.
class ProcessNumbers {
 public:
  struct Process {
    std::int64_t number = 0;  // from 1 on
    bool named = false;       // an event with its name was there
    bool sorted = false;      // and one with its place
  };

  // A group of processes, which are shown under its name; two traces of a rank share theirs.
  std::size_t group(const std::string& name);
  // `pid` is the token that the trace has.
  Process& process(std::size_t group, std::string_view pid);
  const std::string& name(std::size_t group) const { return groups_[group].name; }

  // Tells metadata events for the processes that no trace named or placed.
  void tell_missing(const std::function<void(std::string_view event)>& event) const;

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
  // `trace` counts the traces of the document. `shift_ns` is added to all times.
  EventMover(ProcessNumbers& processes, std::size_t group, std::size_t trace, std::int64_t shift_ns)
      : processes_(processes), group_(group), trace_(trace), shift_ns_(shift_ns) {}

  // A whole event, moved. Valid until the next call.
  std::string_view move(std::string_view event);

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::string text;
  };
  struct Tokens;

  void replace(std::string_view event, std::string_view token, std::string text);
  void move_process(std::string_view event, const Tokens& tokens);
  std::string flow_id(std::string_view token) const;

  ProcessNumbers& processes_;
  std::size_t group_;
  std::size_t trace_;
  std::int64_t shift_ns_;
  std::vector<Edit> edits_;  // reused
  std::string moved_;
};

}  // namespace trainwatch
