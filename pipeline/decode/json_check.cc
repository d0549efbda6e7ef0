#include "pipeline/decode/json_check.h"

#include <simdjson.h>

#include <string>

namespace trainwatch {

struct JsonCheck::Parser {
  simdjson::dom::parser dom;
  std::string copy;
};

JsonCheck::JsonCheck() : parser_(std::make_unique<Parser>()) {}
JsonCheck::~JsonCheck() = default;

bool JsonCheck::is_object(std::string_view text) {
  std::string& copy = parser_->copy;
  copy.assign(text);
  copy.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::dom::element parsed;
  if (parser_->dom.parse(copy.data(), copy.size(), false).get(parsed) != simdjson::SUCCESS) {
    return false;
  }
  return parsed.is_object();
}

}  // namespace trainwatch
