// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/log_probe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/tail/candidate.h"
#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

class NoDiagnostics final : public Diagnostics {
 public:
  void reject(FileId, RejectReason, std::string_view) override {}
};

// Whether one of the notes shows that the file is about a job.
class EndNotes final : public RunNoteSink {
 public:
  explicit EndNotes(NameClaim claim) : claim_(claim) {}

  SourceNote add(RunNote note) override {
    if (note.kind == RunNote::Kind::end_evidence && note.end)
      seen_ = seen_ || explains_a_job(*note.end);
    return {note.at, {}, SourceNote::Kind::run_note, note.subject};
  }
  bool seen() const { return seen_; }

 private:
  bool explains_a_job(const EndEvidence& end) const {
    if (claim_ == NameClaim::text) return false;
    const bool any = end.what == EndClass::unknown || end.what == EndClass::exception ||
                     end.what == EndClass::completed || end.what == EndClass::signal;
    return !any || claim_ == NameClaim::training || claim_ == NameClaim::none;
  }

  NameClaim claim_;
  bool seen_ = false;
};

// NULs, or more than a few other control characters, are in no log.
bool is_binary(std::string_view bytes) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  if (bytes.starts_with(kGzip)) return false;
  constexpr std::size_t kSome = 4096;
  bytes = bytes.substr(0, kSome);
  const auto odd = std::ranges::count_if(bytes, [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    const bool usual = byte == '\t' || byte == '\n' || byte == '\r' || byte == '\b' || byte == 0x1b;
    return (byte < 0x20 && !usual) || byte == 0x7f;
  });
  return bytes.find('\0') != std::string_view::npos ||
         static_cast<std::size_t>(odd) * 100 > bytes.size();
}

class LogLook final : public ContentLook {
 public:
  LogLook(const Interner& empty, const std::string& path, const WatchRoot& root,
          std::shared_ptr<const DeclaredFormats> declared, DecodeWatch* watch)
      : path_(path),
        watch_(watch),
        declared_(std::move(declared)),
        interner_(empty),
        notes_(claim_of(name_of(path))),
        decoder_({.path = path,
                  .job = job_of(path, root.path, root.job),
                  .rank = root.rank,
                  .interner = interner_,
                  .diagnostics = no_diagnostics_,
                  .list_directory = {},
                  .run_notes = &notes_},
                 format_catalog(declared_.get())) {
    content_.job = job_of(path, root.path, root.job);
  }

  bool feed(std::string_view bytes) override {
    if (std::exchange(begins_, false) && is_binary(bytes)) {
      content_.answer = HeadContent::Answer::no;
      return false;
    }
    const WatchedDecode watched(watch_, path_, fed_, fed_ + bytes.size());
    fed_ += bytes.size();
    decoder_.feed(bytes, batch_);
    take_batch();
    return content_.records.size() < HeadContent::kMostRecords;
  }

  HeadContent content() override {
    if (content_.answer == HeadContent::Answer::no) return std::move(content_);
    const WatchedDecode watched(watch_, path_, fed_, fed_);
    decoder_.finish(batch_);
    take_batch();
    end_record();
    if (decoder_.records() > 0 || notes_.seen()) content_.answer = HeadContent::Answer::yes;
    return std::move(content_);
  }

 private:
  void take_batch() {
    for (const Event& event : batch_) {
      if (const auto* const scalar = std::get_if<Scalar>(&event)) take(*scalar);
    }
    batch_.clear();
  }

  void take(const Scalar& scalar) {
    if (scalar.step == kNoStep || content_.records.size() >= HeadContent::kMostRecords) return;
    if (!record_.values.empty() && scalar.step != record_.step) end_record();
    if (content_.rank == kNoRank && scalar.subject != SubjectId::none) {
      content_.rank = interner_.subjects[scalar.subject].rank;
    }
    record_.step = scalar.step;
    record_.timed = scalar.timed;
    record_.at_ns = to_ns(scalar.at);
    const HeadRecord::Value value{std::hash<std::string_view>{}(interner_.text(scalar.tag)),
                                  scalar.value};
    if (scalar.kind == ScalarKind::loss && !has_loss_) {
      record_.values.insert(record_.values.begin(), value);
      has_loss_ = true;
    } else if (record_.values.size() < HeadRecord::kMostValues) {
      record_.values.push_back(value);
    }
  }

  void end_record() {
    if (record_.values.empty()) return;
    record_.values.resize(std::min(record_.values.size(), HeadRecord::kMostValues));
    if (content_.records.size() < HeadContent::kMostRecords) content_.records.push_back(record_);
    record_ = {};
    has_loss_ = false;
  }

  std::string path_;
  DecodeWatch* watch_;
  std::uint64_t fed_ = 0;  // bytes
  std::shared_ptr<const DeclaredFormats> declared_;
  Interner interner_;
  NoDiagnostics no_diagnostics_;
  EndNotes notes_;
  FileDecoder decoder_;
  EventBatch batch_;
  HeadContent content_;
  HeadRecord record_;  // that has begun
  bool has_loss_ = false;
  bool begins_ = true;
};

}  // namespace

ContentProbe log_probe(const IngestOptions& input) {
  // Copied for each look, as a new one costs more: it asks the machine for random numbers.
  return [empty = std::make_shared<const Interner>(), roots = input.roots,
          declared = input.declared, watch = input.decode_watch](const std::string& path) {
    static const WatchRoot kNone;
    const WatchRoot* const root = root_of(path, roots);
    return std::make_unique<LogLook>(*empty, path, root == nullptr ? kNone : *root, declared,
                                     watch);
  };
}

}  // namespace trainwatch
