// `trainwatch follow`: subscribes to a trainwatch, prints its alerts, and reconnects by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>

namespace trainwatch {

struct FollowOptions {
  std::string url;  // ws:// or http://, without a path: /api/v1/stream
  // Print alerts after this one. Absent: new alerts only, or those that `name` has not
  // acknowledged.
  std::optional<std::uint64_t> after;
  std::string rule;             // only of this rule, or these with commas; empty: all
  std::string name;             // acknowledge printed alerts under it; empty: do not
  std::ostream* out = nullptr;  // alerts, one JSON object per line; null: standard output
  std::ostream* err = nullptr;  // everything else; null: standard error
  std::stop_token stop;         // ends it, like SIGINT and SIGTERM do
  std::chrono::milliseconds first_wait{200};  // before a reconnection; doubles up to ...
  std::chrono::milliseconds last_wait{10'000};
};

// Blocks until stopped. After a lost connection it reconnects and resumes after the last alert. The
// exit code: 0 stopped; 1 refused by the server, or the output cannot be written; 2 the URL is not
// usable.
int follow(const FollowOptions& options);

}  // namespace trainwatch
