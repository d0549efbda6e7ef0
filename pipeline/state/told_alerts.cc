#include "pipeline/state/told_alerts.h"

#include <xxhash.h>

namespace trainwatch {

std::string told_content(const Alert& alert) {
  const std::string json = to_json(alert, {});
  const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

bool is_news(const ToldAlert& told, const Alert& alert, std::string_view content) {
  if (told.content == content) return false;
  if (told.state == Alert::State::resolved && alert.state == Alert::State::firing) return false;
  return told.state != alert.state || alert.updated_at >= told.updated_at;
}

}  // namespace trainwatch
