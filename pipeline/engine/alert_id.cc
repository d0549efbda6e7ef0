#include "pipeline/engine/alert_id.h"

#include <xxhash.h>

#include <cstdio>

namespace trainwatch {

std::string alert_id(const RuleSpec& rule, const Subject& subject, std::string_view key, Time at) {
  std::string text = "tw1";
  const auto add = [&text](std::string_view part) {
    text += '\0';
    text += part;
  };
  add(rule.id);
  add(std::to_string(rule.version));
  add(subject.job);
  add(subject.node);
  add(std::to_string(subject.rank));
  add(subject.gpu);
  add(key);
  add(std::to_string(to_ns(at)));
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return hex;
}

}  // namespace trainwatch
