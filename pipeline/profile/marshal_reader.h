// SPDX-License-Identifier: Apache-2.0
// Reads Python's marshal format, versions 0 to 4, as pstats dumps use it: None, booleans, integers,
// floats, strings, tuples, lists and dicts, and references to earlier objects.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

// The values of one dump in Python's marshal format.

class MarshalValue;

class MarshalDocument {
 public:
  MarshalValue root() const;

 private:
  friend class MarshalReader;
  friend class MarshalValue;

  enum class Kind : std::uint8_t { none, boolean, integer, real, text, sequence, dict };
  // An object to which a dump refers many times is one node with many links to it.
  struct Node {
    Kind kind = Kind::none;
    std::uint32_t size = 0;     // bytes of a text, links of a sequence or dict
    std::uint64_t payload = 0;  // the bits of a number, or where in bytes_ or links_ it begins
  };

  MarshalDocument() = default;

  std::string bytes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> links_;
  std::uint32_t root_ = 0;
};

// One value, valid as long as its document stays in place. Undefined if the value is of another
// kind than the accessor.
class MarshalValue {
 public:
  using Kind = MarshalDocument::Kind;

  bool is_integer() const { return node().kind == Kind::integer; }
  bool is_real() const { return node().kind == Kind::real; }
  bool is_text() const { return node().kind == Kind::text; }
  bool is_sequence() const { return node().kind == Kind::sequence; }
  bool is_dict() const { return node().kind == Kind::dict; }

  std::int64_t integer() const { return static_cast<std::int64_t>(node().payload); }
  double real() const { return std::bit_cast<double>(node().payload); }
  // The bytes as stored: UTF-8 from Python 3, anything from Python 2.
  std::string_view text() const {
    return std::string_view{document_->bytes_}.substr(node().payload, node().size);
  }

  // Items of a tuple or list, pairs of a dict.
  std::size_t size() const { return is_dict() ? node().size / 2 : node().size; }
  MarshalValue item(std::size_t index) const { return link(index); }
  MarshalValue key(std::size_t index) const { return link(2 * index); }
  MarshalValue value(std::size_t index) const { return link(2 * index + 1); }

 private:
  friend class MarshalDocument;

  MarshalValue(const MarshalDocument& document, std::uint32_t index)
      : document_(&document), index_(index) {}
  const MarshalDocument::Node& node() const { return document_->nodes_[index_]; }
  MarshalValue link(std::size_t at) const {
    return {*document_, document_->links_[node().payload + at]};
  }

  const MarshalDocument* document_;
  std::uint32_t index_;
};

inline MarshalValue MarshalDocument::root() const {
  return {*this, root_};
}

inline constexpr std::size_t kMaxMarshalBytes = std::size_t{32} << 20U;
inline constexpr std::size_t kMaxMarshalValues = std::size_t{1} << 22U;
inline constexpr int kMaxMarshalDepth = 32;

// `bytes` must be one complete dump and nothing else; otherwise the error gives the byte and the
// reason.
Result<MarshalDocument> read_marshal(std::string bytes);

}  // namespace trainwatch
