// Lenient reading of JSON that this program wrote: what is missing, or of another kind, reads as
// empty.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace trainwatch {

// Refers into the parser's document.
class JsonValue {
 public:
  JsonValue() = default;
  explicit JsonValue(simdjson::dom::element value) : value_(value) {}

  JsonValue operator[](std::string_view key) const {
    simdjson::dom::element value;
    if (!value_ || !value_->is_object()) return {};
    return value_->at_key(key).get(value) == simdjson::SUCCESS ? JsonValue(value) : JsonValue();
  }
  std::optional<double> number() const {
    double number = 0;
    if (!value_ || value_->get(number) != simdjson::SUCCESS) return std::nullopt;
    return number;
  }
  std::optional<bool> truth() const {
    bool truth = false;
    if (!value_ || value_->get(truth) != simdjson::SUCCESS) return std::nullopt;
    return truth;
  }
  std::optional<std::string> text() const {
    std::string_view text;
    if (!value_ || value_->get(text) != simdjson::SUCCESS) return std::nullopt;
    return std::string(text);
  }
  // The value as JSON.
  std::string written() const { return value_ ? simdjson::minify(*value_) : std::string(); }

  // Calls `use(JsonValue)` for each item of an array.
  template <class Use>
  void each_item(const Use& use) const {
    simdjson::dom::array array;
    if (!value_ || value_->get(array) != simdjson::SUCCESS) return;
    for (const simdjson::dom::element item : array) use(JsonValue(item));
  }
  // Calls `use(key, JsonValue)` for each field of an object.
  template <class Use>
  void each_field(const Use& use) const {
    simdjson::dom::object object;
    if (!value_ || value_->get(object) != simdjson::SUCCESS) return;
    for (const simdjson::dom::key_value_pair field : object) use(field.key, JsonValue(field.value));
  }

 private:
  std::optional<simdjson::dom::element> value_;
};

}  // namespace trainwatch
