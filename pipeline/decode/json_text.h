// The text of JSON string tokens.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainwatch {

// True for a token in quotes.
inline bool is_string_token(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

// What is between the quotes, escapes as they stand. Only for comparing with plain names.
inline std::string_view between_quotes(std::string_view token) {
  return is_string_token(token) ? token.substr(1, token.size() - 2) : std::string_view{};
}

// Turns string tokens into text. Plain ASCII, which nearly all are, is passed on without a copy;
// the rest goes through simdjson for escapes and UTF-8.
class StringReader {
 public:
  StringReader();
  ~StringReader();

  // nullopt: not a string, a bad escape, or not UTF-8. Valid until the next call, or as long as the
  // token.
  std::optional<std::string_view> read(std::string_view token);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  // made when first needed
};

}  // namespace trainwatch
