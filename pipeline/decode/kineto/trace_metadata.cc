// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/trace_metadata.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

// Times as written that are later than this are since the epoch (this is March 1973).
constexpr std::int64_t kFirstAbsoluteNs = 100'000'000'000'000'000;

}  // namespace

void TraceMetadata::member(std::string_view key, std::string_view value) {
  if (key == "baseTimeNanoseconds") {
    base_ns_ = parse_integer(value);
  } else if (key == "host_name") {
    StringReader strings;
    if (const auto text = strings.read(value)) host_ = *text;
  } else if (key == "distributedInfo") {
    JsonCursor cursor{value};
    cursor.enter();
    for (std::string_view name; cursor.next(name);) {
      const std::string_view token = cursor.value();
      if (name == "rank") rank_ = parse_integer(token);
      if (name == "world_size") world_size_ = std::max<std::int64_t>(integer_or(token, 0), 0);
    }
  }
}

Subject TraceMetadata::subject(const FileContext& context, std::int64_t process) const {
  const ProfilePathMetadata source = profile_path_metadata(context.path);
  Subject subject{context.job, host_.empty() ? source.node : host_, context.rank, ""};
  if (subject.rank == kNoRank && rank_ && *rank_ >= 0) {
    subject.rank = static_cast<std::int32_t>(*rank_);
  }
  if (subject.rank == kNoRank) subject.rank = source.rank;
  context.fill_in(subject);
  if (subject.rank == kNoRank)
    subject.process = source.process == kNoProcess ? process : source.process;
  return subject;
}

std::int64_t TraceMetadata::time_base(std::string_view path, std::int64_t last_end_ns) const {
  if (base_ns_) return *base_ns_;
  const auto file_end_ns = profile_path_metadata(path).end_ns;
  if (last_end_ns >= kFirstAbsoluteNs || !file_end_ns) return 0;
  return *file_end_ns - last_end_ns;  // the file is named when its last event has ended
}

void TraceMetadata::state(StateIo& io) {
  io(base_ns_);
  io(rank_);
  io(world_size_);
  io(host_);
}

}  // namespace trainwatch
