// Finds content again: whether a file holds, from its beginning, what was read of another one.
#pragma once

#include <span>
#include <string_view>

#include "pipeline/tail/content_mark.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

// Reads until `buffer` is full or the file ends: short reads are normal. The result points into it.
Result<std::string_view> read_fully(OpenFile& file, std::uint64_t offset, std::span<char> buffer);

// True when `file` begins with all that `read` marks. Reads it up to read.offset(), into `buffer`,
// unless its first block differs already.
Result<bool> holds(OpenFile& file, const ContentMark& read, std::span<char> buffer);

// True when the first block, or all there is, agrees; the rest is taken on trust.
Result<bool> begins_alike(OpenFile& file, const ContentMark& read, std::span<char> buffer);

// True when `file` begins with `bytes`, which fit into `buffer`.
Result<bool> begins_with(OpenFile& file, std::string_view bytes, std::span<char> buffer);

// True when the shorter one is the beginning of the other one: a copy may be growing, and a draft
// be longer. Of an empty original only an empty file is a copy.
Result<bool> same_beginning(OpenFile& copy, OpenFile& original, std::span<char> buffer);

}  // namespace trainwatch
