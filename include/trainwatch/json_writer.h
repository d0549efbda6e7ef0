// SPDX-License-Identifier: Apache-2.0
// Writes JSON text into a string, or passes it on in pieces. The caller keeps the structure right;
// the writer places commas, escapes strings and prints numbers so that they read back exactly. NaN
// and infinities, which JSON does not have, become null; bytes that are not UTF-8 become text,
// \xNN.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trainwatch/valid_text.h"

namespace trainwatch {

class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  JsonWriter() = default;
  // Passes the text to `sink` in pieces; finish() passes the rest.
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    need_comma_ = false;
    return *this;
  }

  JsonWriter& value(std::string_view text) {
    separate();
    quote(text);
    need_comma_ = true;
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  template <class T>
  requires std::is_arithmetic_v<T> JsonWriter& value(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(number)) return null();
    }
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return raw({text, static_cast<std::size_t>(end - text)});
  }
  // Text that is JSON already.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    need_comma_ = true;
    return *this;
  }

  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }
  void finish() {
    sink_(out_);
    out_.clear();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{64} << 10U;

  JsonWriter& open(char bracket) {
    if (sink_ && out_.size() >= kPiece) finish();
    separate();
    out_ += bracket;
    need_comma_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    need_comma_ = true;
    return *this;
  }
  void separate() {
    if (need_comma_) out_ += ',';
    need_comma_ = false;
  }
  void quote(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const auto end = std::ranges::find_if_not(text, is_plain);
      const auto plain = static_cast<std::size_t>(end - text.begin());
      out_ += text.substr(0, plain);
      text.remove_prefix(plain);
      if (!text.empty()) text.remove_prefix(escape(text));
    }
    out_ += '"';
  }
  static bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  }
  // The next character, which is not plain. Returns its bytes.
  std::size_t escape(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (byte < 0x20) {
      out_ += "\\u00";
      out_ += kHex[byte >> 4U];
      out_ += kHex[byte & 15U];
    } else if (const std::size_t size = printable_prefix(text); size > 0) {
      out_ += text.substr(0, size);
      return size;
    } else {
      out_ += "\\\\x";
      out_ += kHex[byte >> 4U];
      out_ += kHex[byte & 15U];
    }
    return 1;
  }

  std::string out_;
  Sink sink_;
  bool need_comma_ = false;
};

}  // namespace trainwatch
