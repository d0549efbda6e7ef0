// SPDX-License-Identifier: Apache-2.0
// The members of a dump as its two encodings have them, before they are put together.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"

namespace trainwatch {

// Limited in bytes, as a few bytes of a file can repeat a long list.
struct FlightFields {
  static constexpr std::size_t kMostBytes = std::size_t{40} << 20U;

  struct Recorded {
    std::string group_id;  // pg_id: of this process
    std::string group;     // its name
    FlightOperation operation;
  };
  std::string version;
  std::map<std::string, FlightGroup> groups;       // by name
  std::map<std::string, FlightProgress> progress;  // by pg_id
  std::deque<Recorded> operations;

  // Accounts for what is added. Throws OverBudget (bounded_memory.h) beyond kMostBytes.
  void hold(std::size_t bytes);

 private:
  std::size_t held_ = 0;
};

struct FieldsEnd {
  FlightDumpResult::End end = FlightDumpResult::End::incomplete;
  std::size_t bytes = 0;
  std::string error;
};

// Both throw OverBudget if the dump takes too much memory.
FieldsEnd read_pickle_fields(std::string_view bytes, FlightFields& fields);
FieldsEnd read_json_fields(std::string_view bytes, FlightFields& fields);

// "[0, 1, 2]" -> sorted ranks; those that are no numbers are left out.
std::vector<std::int32_t> parse_ranks(std::string_view text);
// "nccl:all_reduce" -> "all_reduce"
std::string without_backend(std::string_view name);

}  // namespace trainwatch
