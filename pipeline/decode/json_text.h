// Tokens of JSON: the text of strings, and whether a record is valid at all.
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

// What is between the quotes, escapes as written. Only for comparing with plain names.
inline std::string_view between_quotes(std::string_view token) {
  return is_string_token(token) ? token.substr(1, token.size() - 2) : std::string_view{};
}

// Turns string tokens into text. Plain ASCII, which nearly all are, is returned without a copy;
// simdjson handles escapes and UTF-8.
class StringReader {
 public:
  StringReader();
  ~StringReader();

  // nullopt: not a string, a bad escape, or not UTF-8. Valid until the next call or as long as the
  // token, whichever ends first.
  std::optional<std::string_view> read(std::string_view token);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  // made when first needed
};

// Whether a text is strictly valid JSON, as other programs need it. Decoders do not ask: they read
// what they need of a record and do not check the rest.
class JsonValidator {
 public:
  JsonValidator();
  ~JsonValidator();

  // False also for text that is not UTF-8 and for numbers that fit neither 64 bits nor a double.
  bool is_object(std::string_view text);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace trainwatch
