// What a file is, from the beginning of its (inflated) contents.
#pragma once

#include <cstddef>
#include <string_view>

#include "pipeline/decode/decoder.h"

namespace trainwatch {

// A file that is not recognised by then is none of ours.
inline constexpr std::size_t kRecogniseBytes = std::size_t{64} << 10U;

// `head` is everything read so far, of which the first kRecogniseBytes are looked at.
// Format::undecided: more is needed. More bytes never change an answer. The path only breaks ties,
// and tells end-of-job marks apart (training_job_end.ts).
Format recognise(std::string_view head, std::string_view path);

// The answer when no more bytes will come: never undecided.
Format recognise_all(std::string_view contents, std::string_view path);

}  // namespace trainwatch
