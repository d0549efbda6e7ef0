// SPDX-License-Identifier: Apache-2.0
// /api/v1/silences: lists, sets and removes silences.
#pragma once

#include "daemon/net/http_message.h"
#include "daemon/notify/silence_book.h"

namespace trainwatch {

// GET, POST with a JSON object (see silence_json.h), and DELETE /api/v1/silences/ID.
HttpResponse answer_silences(SilenceBook& silences, const HttpRequest& request, Time now);

}  // namespace trainwatch
