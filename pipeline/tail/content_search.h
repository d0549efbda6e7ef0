// Finds content again: whether a file holds, from its beginning, what was read of another one.
#pragma once

#include <span>

#include "pipeline/tail/content_mark.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

// True when `file` begins with all that `read` marks. Reads it up to read.offset(), into `buffer`,
// unless its first block differs already.
Result<bool> holds(OpenFile& file, const ContentMark& read, std::span<char> buffer);

// True when the first block, or all there is, agrees; the rest is taken on trust.
Result<bool> begins_alike(OpenFile& file, const ContentMark& read, std::span<char> buffer);

// True when the first `size` bytes of both are the same.
Result<bool> same_beginning(OpenFile& a, OpenFile& b, std::uint64_t size, std::span<char> buffer);

}  // namespace trainwatch
