// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/silence.h"

#include "daemon/net/url.h"

namespace trainwatch {

Status check_silence(const Silence& silence) {
  if ((silence.rule + silence.job + silence.node + silence.rank + silence.gpu).empty()) {
    return Error{"would match every alert: name a rule, job, node, rank or gpu"};
  }
  if (!silence.rank.empty() && !parse_unsigned(silence.rank)) {
    return Error{"rank: '" + silence.rank + "' is not a number"};
  }
  if (silence.from != kNoTime && silence.until != kNoTime && silence.until <= silence.from) {
    return Error{"until: must be later than from"};
  }
  return success();
}

}  // namespace trainwatch
