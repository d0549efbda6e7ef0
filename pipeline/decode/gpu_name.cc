// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/gpu_name.h"

#include <charconv>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_kind.h"

namespace trainwatch {
namespace {

std::optional<std::uint32_t> hex_number(std::string_view digits) {
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, number, 16);
  return failure == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
};

// The function of the device, which is always 0 of a GPU, may be missing.
std::optional<PciAddress> read_pci_address(std::string_view text) {
  const std::size_t first = text.find(':');
  if (first != 4 && first != 8) return std::nullopt;
  const std::string_view rest = text.substr(first + 1);
  if (rest.size() < 5 || rest[2] != ':') return std::nullopt;
  const std::string_view function = rest.substr(5);
  if (!function.empty() && (function.size() != 2 || function[0] != '.')) return std::nullopt;
  const auto domain = hex_number(text.substr(0, first));
  const auto bus = hex_number(rest.substr(0, 2));
  const auto device = hex_number(rest.substr(3, 2));
  if (!domain || !bus || !device) return std::nullopt;
  return PciAddress{*domain, *bus, *device};
}

}  // namespace

std::optional<std::string> pci_address(std::string_view text) {
  if (!read_pci_address(text)) return std::nullopt;
  const bool long_domain = text.find(':') == 8;
  if (long_domain && text.starts_with("0000")) text.remove_prefix(4);
  std::string address{text.substr(0, text.find('.'))};
  for (char& c : address) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return address;
}

std::uint32_t number_of_gpu(std::string_view name) {
  if (parse_digits(name)) return device_number(name);
  if (const auto address = read_pci_address(name)) {
    return (address->domain << 16U) | (address->bus << 8U) | address->device;
  }
  constexpr std::string_view kUuid = "GPU-";
  return name.starts_with(kUuid) ? hex_number(name.substr(kUuid.size(), 8)).value_or(0) : 0;
}

}  // namespace trainwatch
