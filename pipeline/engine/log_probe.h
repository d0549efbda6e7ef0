// SPDX-License-Identifier: Apache-2.0
// What the tailer asks about files whose names do not say what they are: whether the decoders find
// something of a training in their first bytes.
#pragma once

#include "pipeline/engine/ingest.h"
#include "pipeline/tail/content_probe.h"

namespace trainwatch {

// For any thread, as often as wanted; it keeps `input.declared`. A file is a log if a record is in
// it, or a line that names the end of a job and its cause; an exception alone counts only if the
// name says that the file is of a training, as every program writes those, and nothing about ends
// counts in a .txt, which may be a text about them.
ContentProbe log_probe(const IngestOptions& input);

}  // namespace trainwatch
