// SPDX-License-Identifier: Apache-2.0
// A TailSink that keeps what it hears, as text to compare with: the calls in order, and the bytes
// of each file as its decoder would hold them.
#pragma once

#include <cassert>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/tail/tailer.h"

namespace trainwatch::test {

class RecordingSink : public TailSink {
 public:
  struct File {
    LaneId lane{};
    std::string lane_name;
    std::vector<FileId> repeated;
    bool forgotten = false;
    bool retired = false;
    std::string source;
    std::string path;
    std::string bytes;                 // of the present content
    std::vector<std::string> earlier;  // what was read before each restart
    int finished = 0;
    std::vector<std::string> errors;
  };

  void opened(const KnownFile& known, const std::string& lane,
              const std::vector<FileId>& repeated) override {
    assert(!files.contains(known.file));
    files[known.file].lane = known.lane;
    files[known.file].source = known.source;
    files[known.file].path = known.path;
    files[known.file].lane_name = lane;
    files[known.file].repeated = repeated;
    note("opened", known.file);
  }
  void data(FileId id, const AppendedBytes& appended) override {
    at(id).bytes.append(appended.bytes);
    total += appended.bytes.size();
    note("data", id);
  }
  void renamed(const KnownFile& known) override {
    at(known.file).path = known.path;
    note("renamed", known.file);
  }
  void cut_back(FileId id, std::uint64_t bytes) override {
    std::string& held = at(id).bytes;
    assert(bytes <= held.size());
    held.resize(held.size() - bytes);
    note("cut_back " + std::to_string(bytes), id);
  }
  void restarted(FileId id, std::uint64_t lost) override {
    at(id).earlier.push_back(std::move(at(id).bytes));
    at(id).bytes.clear();
    note("restarted " + std::to_string(lost), id);
  }
  void finished(FileId id) override {
    ++at(id).finished;
    note("finished", id);
  }
  void read_error(FileId id, const std::string& what) override {
    at(id).errors.push_back(what);
    note("read_error", id);
  }
  void forgotten(FileId id, bool retired) override {
    at(id).forgotten = true;
    at(id).retired = retired;
  }
  void lane_forgotten(LaneId lane) override { forgotten_lanes.push_back(lane); }
  void checkpoint_written(const CheckpointFile& file) override { checkpoints.push_back(file); }

  // The calls since the last take_calls(): "what name", a run of data calls as one.
  std::vector<std::string> take_calls() { return std::exchange(calls_, {}); }

  // The file last opened under or renamed to `path`.
  const File& file(const std::string& path) const {
    const File* found = nullptr;
    for (const auto& [id, each] : files) {
      if (each.path == path) found = &each;
    }
    assert(found != nullptr);
    return *found;
  }

  std::map<FileId, File> files;
  std::vector<LaneId> forgotten_lanes;      // in the order in which they were reported
  std::vector<CheckpointFile> checkpoints;  // in the order in which they were reported
  std::uint64_t total = 0;                  // bytes of all data calls

 private:
  File& at(FileId id) {
    const auto found = files.find(id);
    assert(found != files.end() && "a call before opened()");
    return found->second;
  }
  void note(const std::string& what, FileId id) {
    const std::string& path = files[id].path;
    std::string call = what + " " + path.substr(path.rfind('/') + 1);
    if (what == "data" && !calls_.empty() && calls_.back() == call) return;
    calls_.push_back(std::move(call));
  }

  std::vector<std::string> calls_;
};

}  // namespace trainwatch::test
