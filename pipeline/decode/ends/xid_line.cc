// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/xid_line.h"

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/gpu_name.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kMostXid = 100'000;
constexpr std::int64_t kMostProcessId = std::int64_t{1} << 32U;

// The digits at the beginning, or behind one of the quotes that the driver writes. -1: none.
std::int64_t number_at(std::string_view text, std::int64_t most) {
  if (text.starts_with('\'')) text.remove_prefix(1);
  const auto number = parse_digits(text.substr(0, text.find_first_not_of("0123456789")));
  return number && *number <= most ? *number : -1;
}

}  // namespace

std::optional<XidLine> read_xid_line(std::string_view line) {
  constexpr std::string_view kBegin = "NVRM: Xid (";
  const std::size_t begin = find_text(line, kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(begin + kBegin.size());
  constexpr std::string_view kBus = "PCI:";
  if (rest.starts_with(kBus)) rest.remove_prefix(kBus.size());
  const std::size_t end = rest.find("): ");
  if (end == std::string_view::npos) return std::nullopt;
  auto address = pci_address(rest.substr(0, end));
  rest.remove_prefix(end + 3);
  XidLine read{.error = {.number = number_at(rest, kMostXid)}};
  if (!address || read.error.number <= 0) return std::nullopt;
  read.address = std::move(*address);
  constexpr std::string_view kProcess = "pid=";
  const std::size_t process = find_text(rest, kProcess);
  if (process != std::string_view::npos) {
    const std::int64_t id = number_at(rest.substr(process + kProcess.size()), kMostProcessId);
    if (id > 0) read.error.process = id;
  }
  return read;
}

}  // namespace trainwatch
