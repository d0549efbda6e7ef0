// SPDX-License-Identifier: Apache-2.0
// What a profiler document says about itself outside its events: whose trace it is and where its
// times begin. Its path and the configuration supply what it leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/decoder.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class TraceMetadata {
 public:
  // A member of the root object, as raw text; unknown ones are ignored.
  void member(std::string_view key, std::string_view value);

  std::int64_t world_size() const { return world_size_; }
  // Configured job and rank override the document, and the document overrides the path. A rank that
  // none of them names is known by its process: that of the path, else `process`, as the events
  // have it.
  Subject subject(const FileContext& context, std::int64_t process) const;
  // The offset to add to times as written. `last_end_ns` is the latest of them.
  std::int64_t time_base(std::string_view path, std::int64_t last_end_ns) const;

  void state(StateIo& io);

 private:
  std::optional<std::int64_t> base_ns_;
  std::optional<std::int64_t> rank_;
  std::int64_t world_size_ = 0;
  std::string host_;
};

}  // namespace trainwatch
