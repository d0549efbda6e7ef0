// SPDX-License-Identifier: Apache-2.0
// What a declared format makes of a file, as short lines of text.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "decode_harness.h"

namespace trainwatch::testing {

using Lines = std::vector<std::string>;

// "kind=value step/steps", and the rank if there is one; "end" where a log says so.
inline std::string short_text(const Scalar& scalar, const Interner& names) {
  char value[32];
  std::snprintf(value, sizeof value, "%.6g", scalar.value);
  std::string text = std::string{to_string(scalar.kind)} + "=" + value + " " +
                     std::to_string(scalar.step) + "/" + std::to_string(scalar.steps);
  const std::int32_t rank = names.subjects[scalar.subject].rank;
  return rank == kNoRank ? text : text + " rank " + std::to_string(rank);
}

inline Lines scalars_of(const std::string& path, std::string_view content,
                        const DeclaredFormats* declared = nullptr) {
  Interner names;
  RecordingDiagnostics diagnostics;
  const FileContext context{
      .path = path, .job = {}, .interner = names, .diagnostics = diagnostics, .list_directory = {}};
  FileDecoder decoder{context, format_catalog(declared)};
  EventBatch batch;
  decoder.feed(content, batch);
  decoder.finish(batch);
  EXPECT_TRUE(diagnostics.reasons.empty());
  Lines lines;
  for (const Event& event : batch) {
    const auto* const scalar = std::get_if<Scalar>(&event);
    lines.push_back(scalar != nullptr ? short_text(*scalar, names) : "end");
  }
  return lines;
}

// The format and the declaration.
inline std::string declared_of(const std::string& path, std::string_view content) {
  DecodeRun run{path};
  run.feed(content);
  run.finish();
  return std::string{run.decoder().format()} + " " + std::string{run.decoder().declared()};
}

}  // namespace trainwatch::testing
