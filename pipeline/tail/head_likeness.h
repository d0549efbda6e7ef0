// SPDX-License-Identifier: Apache-2.0
// Whether two logs hold the same records, as a console and the file of a logger do, or both sides
// of `tee`. Prefixes of lines and their wording may differ; what was measured may not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipeline/tail/content_probe.h"

namespace trainwatch {

enum class Likeness : std::uint8_t {
  different,
  alike,  // as far as there are common records, but these are too few
  same,
};

// At least so many steps that both have must agree.
inline constexpr std::size_t kLeastCommonRecords = 3;

// The records of the steps that both have must agree in every value of the same name, to the
// precision that is printed, and these must vary: two runs of one program begin with the same loss,
// but do not take the same time. Where both have times, these agree, too, but for a time zone; logs
// of two jobs, as their paths say, are the same only if one job lies in the other one, and with the
// same times. Files of different ranks never are, nor one that names its rank and one that does
// not.
Likeness likeness_of(const HeadContent& a, const HeadContent& b);

}  // namespace trainwatch
