// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/process_records.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/evidence_text.h"
#include "pipeline/decode/json_cursor.h"

namespace trainwatch {
namespace {

// Calls `take(key, value)` for each member of "args", as far as the record can be read.
template <class Take>
void each_argument(std::string_view record, Take&& take) {
  JsonCursor members{record};
  members.enter();
  for (std::string_view key; members.next(key);) {
    JsonCursor arguments{members.value()};
    if (key != "args" || !arguments.enter()) continue;
    while (arguments.next(key)) take(key, arguments.value());
  }
}

std::string text_of(std::string_view token) {
  StringReader strings;
  return std::string(strings.read(token).value_or(""));
}

struct Known {
  std::string_view type;     // what it ends with, or nothing
  std::string_view message;  // what it contains, or nothing
  ExceptionMeaning meaning;
};

constexpr ExceptionMeaning named(EndClass what) {
  return {what, EndWeight::exception};
}
constexpr ExceptionMeaning kBrokenPeer{EndClass::exception, EndWeight::consequence};

// The first that fits.
constexpr Known kKnown[] = {
    {"KeyboardInterrupt", "", named(EndClass::cancelled)},
    {"OutOfMemoryError", "", named(EndClass::cuda_out_of_memory)},
    {"", "CUDA out of memory", named(EndClass::cuda_out_of_memory)},
    {"", "CUDA error: out of memory", named(EndClass::cuda_out_of_memory)},
    {"XlaRuntimeError", "RESOURCE_EXHAUSTED", named(EndClass::cuda_out_of_memory)},
    {"MemoryError", "", named(EndClass::host_out_of_memory)},
    {"", "Cannot allocate memory", named(EndClass::host_out_of_memory)},
    {"", "No space left on device", named(EndClass::disk_full)},
    {"", "DataLoader worker (pid", named(EndClass::worker_killed)},
    {"", "Watchdog caught collective operation timeout", named(EndClass::collective_timeout)},
    {"DistBackendError", "Connection", kBrokenPeer},
    {"DistBackendError", "remote process exited", kBrokenPeer},
    {"DistNetworkError", "", kBrokenPeer},
    {"", "Connection closed by peer", kBrokenPeer},
    {"", "Connection reset by peer", kBrokenPeer},
    {"ConnectionResetError", "", kBrokenPeer},
    {"BrokenPipeError", "", kBrokenPeer},
    {"", "Timed out waiting", named(EndClass::collective_timeout)},
    {"AcceleratorError", "", named(EndClass::gpu_error)},
    {"", "CUDA error:", named(EndClass::gpu_error)},
    {"", "CUBLAS_STATUS_", named(EndClass::gpu_error)},
};

std::int32_t number_of(std::string_view token) {
  const std::int64_t number = integer_or(token, 0);
  return std::in_range<std::int32_t>(number) ? static_cast<std::int32_t>(number) : 0;
}

void classify(EndEvidence& end, std::string_view how, std::string_view type,
              std::string_view message) {
  if (how == "completed") {
    end.what = EndClass::completed;
    end.exit_code = 0;
  } else if (how == "interrupted") {
    end.what = EndClass::cancelled;
  } else if (how == "signal") {
    end.what = EndClass::signal;
  } else if (how == "exception" && !type.empty()) {
    const ExceptionMeaning meaning = meaning_of_exception(type, message);
    end.what = meaning.what;
    end.weight = meaning.weight;
    std::string text(type);
    if (!message.empty()) text.append(": ").append(message);
    end.text = evidence_text(text);
  }
}

}  // namespace

ProcessLabels read_process_labels(std::string_view record) {
  ProcessLabels labels;
  each_argument(record, [&labels](std::string_view key, std::string_view value) {
    if (key == "process_start_in_micros") {
      labels.start_ns = parse_time_ns(value, TimeUnit::microseconds);
    } else if (key == "process_id") {
      labels.process = integer_or(value, -1);
    } else if (key == "world_size") {
      const std::int64_t size = integer_or(value, 0);
      if (std::in_range<std::uint32_t>(size)) labels.world_size = static_cast<std::uint32_t>(size);
    }
  });
  return labels;
}

EndEvidence read_process_end(std::string_view record) {
  EndEvidence end;
  std::string_view how;
  std::string type;
  std::string message;
  each_argument(record, [&](std::string_view key, std::string_view value) {
    if (key == "how") how = between_quotes(value);
    if (key == "exception") type = text_of(value);
    if (key == "message") message = text_of(value);
    if (key == "exit_code") end.exit_code = number_of(value);
    if (key == "signal") end.signal = number_of(value);
  });
  classify(end, how, type, message);
  return end;
}

ExceptionMeaning meaning_of_exception(std::string_view type, std::string_view message) {
  const auto* const known = std::ranges::find_if(kKnown, [&](const Known& one) {
    return type.ends_with(one.type) && message.find(one.message) != std::string_view::npos;
  });
  return known == std::end(kKnown) ? ExceptionMeaning{} : known->meaning;
}

}  // namespace trainwatch
