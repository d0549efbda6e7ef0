// SPDX-License-Identifier: Apache-2.0
// Compares files with fingerprints: whether a file begins with what was read of another one.
#pragma once

#include <span>
#include <string_view>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/fingerprint.h"

namespace trainwatch {

// Reads once; returns the number of bytes, 0 at the end of the file.
Result<std::size_t> read_piece(OpenFile& file, std::uint64_t offset, std::span<char> buffer);
// Reads until `buffer` is full or the file ends, as short reads are normal. The result points into
// `buffer`.
Result<std::string_view> read_fully(OpenFile& file, std::uint64_t offset, std::span<char> buffer);

// True if `file` begins with all of the content of `read`. Reads it up to read.offset(), into
// `buffer`, but stops if the first block differs.
Result<bool> holds(OpenFile& file, const Fingerprint& read, std::span<char> buffer);

// True if the first block, or everything if there is less, agrees; the rest is not compared.
Result<bool> begins_alike(OpenFile& file, const Fingerprint& read, std::span<char> buffer);

// True if `file` begins with `bytes`, which must fit into `buffer`.
Result<bool> begins_with(OpenFile& file, std::string_view bytes, std::span<char> buffer);

// True if one file is a prefix of the other: a copy may still be growing, and a draft may be
// longer. Only an empty file is a copy of an empty original.
Result<bool> same_beginning(OpenFile& copy, OpenFile& original, std::span<char> buffer);

}  // namespace trainwatch
