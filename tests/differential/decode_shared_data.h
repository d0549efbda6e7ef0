// SPDX-License-Identifier: Apache-2.0
// Real files of other projects, in ../shared beside the checkout, and how the tests read them.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/gzip_stream.h"
#include "support/source_path.h"

namespace trainwatch::testing {

namespace fs = std::filesystem;
using simdjson::dom::element;

inline const fs::path kShared = fs::path{source_path("../shared")};
inline const fs::path kProfiler = kShared / "data/sagemaker/profiler/resources";

class CollectRejects final : public Diagnostics {
 public:
  void reject(FileId, RejectReason reason, std::string_view) override {
    reasons.emplace_back(to_string(reason));
  }
  std::vector<std::string> reasons;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

inline std::string inflated(const fs::path& path) {
  const std::string bytes = read_file(path);
  if (path.extension() != ".gz") return bytes;
  InflateStream stream;
  std::string out;
  stream.push(bytes);
  for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) out += piece;
  return out;
}

inline std::vector<std::string> list_directory(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{directory, error}) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// A whole file, decoded in pieces.
struct DecodedFile {
  explicit DecodedFile(const fs::path& path) {
    CollectRejects diagnostics;
    FileDecoder decoder{
        {FileId{}, LaneId{}, path.string(), "", kNoRank, names, diagnostics, &list_directory},
        format_catalog()};
    const std::string bytes = read_file(path);
    EventBatch batch;
    for (std::size_t at = 0; at < bytes.size(); at += 60000) {
      decoder.feed(std::string_view{bytes}.substr(at, 60000), batch);
    }
    complete = decoder.complete();
    decoder.finish(batch);
    for (const Event& event : batch) {
      if (const auto* span = std::get_if<Span>(&event)) spans.push_back(*span);
      if (const auto* sample = std::get_if<Sample>(&event)) samples.push_back(*sample);
    }
    rejects = diagnostics.reasons;
    records = decoder.records();
    format = decoder.format();
  }
  std::vector<Span> of_kind(SpanKind kind) const {
    std::vector<Span> found;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(found),
                 [&](const Span& span) { return span.kind == kind; });
    return found;
  }
  const Subject& subject(const Span& span) const { return names.subjects[span.subject]; }

  Interner names;
  std::vector<Span> spans;
  std::vector<Sample> samples;
  std::vector<std::string> rejects;
  std::uint64_t records = 0;
  std::string format;
  bool complete = false;
};

inline std::vector<fs::path> files_below(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator{directory}) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  return found;
}

class SharedData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kProfiler)) GTEST_SKIP() << kShared << " is not there";
  }
  element load(const fs::path& path) { return parser_.load(path.string()); }
  element parse(const std::string& text) { return parser_.parse(text); }

 private:
  simdjson::dom::parser parser_;
};

inline std::string text_of(element value) {
  return std::string{value.get_string().value()};
}

// Exact: the reference's doubles print as the decimals that they were made from.
inline std::int64_t us_to_ns(element microseconds) {
  return parse_time_ns(simdjson::minify(microseconds), TimeUnit::microseconds).value();
}

}  // namespace trainwatch::testing
