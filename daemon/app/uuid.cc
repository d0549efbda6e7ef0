#include "daemon/app/uuid.h"

#include <cstdint>
#include <cstdio>
#include <random>

namespace trainwatch {

std::string random_uuid() {
  std::random_device random;
  const auto word = [&random] {
    return (std::uint64_t{random()} << 32U) | std::uint64_t{random()};
  };
  const std::uint64_t high = (word() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (word() & ~(3ULL << 62U)) | (2ULL << 62U);
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32U), static_cast<unsigned>((high >> 16U) & 0xFFFFU),
                static_cast<unsigned>(high & 0xFFFFU), static_cast<unsigned>(low >> 48U),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return text;
}

}  // namespace trainwatch
