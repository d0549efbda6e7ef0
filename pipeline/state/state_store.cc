#include "pipeline/state/state_store.h"

#include <xxhash.h>

#include "pipeline/engine/alert_json.h"

namespace trainwatch {

std::string content_hash(const Alert& alert) {
  const std::string json = to_json(alert, {});
  const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

bool is_news(const LastPublished& last, const Alert& alert, std::string_view content) {
  if (last.content == content) return false;
  if (last.state == Alert::State::resolved && alert.state == Alert::State::firing) return false;
  return last.state != alert.state || alert.updated_at >= last.updated_at;
}

}  // namespace trainwatch
