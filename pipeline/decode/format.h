// SPDX-License-Identifier: Apache-2.0
// A file format is one row of a table: its name, how the beginning of a file shows it, and its
// decoder. Detection is by content; the path only breaks ties.
//
// The table is formats/format_catalog.cc. A new format is one file beside it and one row in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {

// One fact about the beginning of a file. Every row of the table is asked about each clue, in this
// order, and the first row to say yes has the file. All text is valid during the call only.
struct FormatClue {
  enum class Kind : std::uint8_t {
    head,    // first, and again whenever there are more bytes: for formats that are not JSON
    member,  // then for each member of the root object, in the order of the file
    event,   // or for the first event of the root array
  };
  Kind kind = Kind::head;
  std::string_view path{};
  std::string_view head{};                    // `head`: the contents so far, from the first byte on
  std::string_view key{};                     // `member`
  std::optional<std::string_view> value{};    // `member`: as raw text; nullopt: not read yet
  const TraceEvent* event = nullptr;          // `event`
  const DeclaredFormats* declared = nullptr;  // null: the presets
};

enum class Detection : std::uint8_t {
  no,
  undecided,  // it takes more: the value of this member, or more bytes of the head
  yes,
};

struct Format {
  std::string_view name{};  // shown to users, and part of the saved state
  // A record is a line, so that the next one is found behind lines that a crash tore.
  bool lines = false;
  // Records can be read from the middle of a file, behind those that they refer to (definitions).
  bool parts = false;
  // Depends on the clue alone, and more bytes must never turn a yes or a no into something else.
  Detection (*detect)(const FormatClue& clue) = nullptr;
  // Null: there is nothing to read in such a file. The context outlives the decoder.
  std::unique_ptr<Decoder> (*make)(const FileContext& context) = nullptr;
};

// All formats, in the order in which they are asked.
struct FormatTable {
  std::span<const Format* const> rows{};
  const DeclaredFormats* declared = nullptr;  // null: the presets

  auto begin() const { return rows.begin(); }
  auto end() const { return rows.end(); }
};

// For Format::make.
template <class Implementation>
std::unique_ptr<Decoder> make_decoder(const FileContext& context) {
  return std::make_unique<Implementation>(context);
}

// Answers that are no row of a table.
inline constexpr Format kUndecidedFormat{.name = "undecided"};  // too few bytes yet
inline constexpr Format kUnknownFormat{.name = "unknown"};      // none of the table
inline constexpr Format kEmptyFormat{.name = "empty"};          // nothing to read
inline constexpr Format kUtf16Format{.name = "utf-16"};         // JSON is UTF-8
inline constexpr Format kUtf32Format{.name = "utf-32"};

// A file that is still undecided after so many bytes has the format "unknown".
inline constexpr std::size_t kDetectBytes = std::size_t{64} << 10U;
// Behind a damaged beginning, a whole record is looked for in so many bytes.
inline constexpr std::size_t kDamagedBytes = std::size_t{16} << 10U;

// `head` is everything read so far, of which the first kDetectBytes are looked at.
// kUndecidedFormat: more is needed. More bytes never change any other answer.
const Format& detect_format(FormatTable formats, std::string_view head, std::string_view path);

// The answer when no more bytes will come: never kUndecidedFormat.
const Format& detect_whole_file(FormatTable formats, std::string_view contents,
                                std::string_view path);

// Nothing but space and brackets, as before the first record.
bool means_nothing(std::string_view contents);

// By name, the answers above included; null when there is none.
const Format* find_format(FormatTable formats, std::string_view name);

}  // namespace trainwatch
