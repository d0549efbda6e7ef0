#include "pipeline/decode/record_splitter.h"

#include <algorithm>

namespace trainwatch {
namespace {

constexpr std::size_t kIndexedPiece = std::size_t{1} << 30U;  // marks have 32-bit offsets

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

void RecordSplitter::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kIndexedPiece);
    std::size_t used = 0;
    switch (mode_) {
      case Mode::start:
        used = start(piece);
        break;
      case Mode::members:
        used = members(piece, sink);
        break;
      case Mode::records:
        used = records(piece, sink);
        break;
      case Mode::resync:
        used = resync(piece);
        break;
      case Mode::count_:
        return;
    }
    bytes.remove_prefix(used);
  }
}

std::size_t RecordSplitter::start(std::string_view bytes) {
  if (bytes.front() == '{') {
    object_root_ = true;
    mode_ = Mode::members;
  } else if (bytes.front() == '[') {
    mode_ = Mode::records;
  }
  return 1;
}

std::size_t RecordSplitter::members(std::string_view bytes, RecordSink& sink) {
  if (closed_) return bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    switch (metadata_.take(bytes[i])) {
      case DocumentMetadata::Found::nothing:
        break;
      case DocumentMetadata::Found::member:
      case DocumentMetadata::Found::last_member:
        sink.member(metadata_.key(), metadata_.value());
        break;
      case DocumentMetadata::Found::damage:
        sink.rejected(RejectReason::syntax, metadata_.value());
        break;
      case DocumentMetadata::Found::end:
        break;
      case DocumentMetadata::Found::events:
        mode_ = Mode::records;
        scan_ = {};
        return i + 1;
    }
    if (metadata_.ended()) {
      closed_ = ended_ = true;
      return i + 1;
    }
  }
  return bytes.size();
}

std::size_t RecordSplitter::records(std::string_view bytes, RecordSink& sink) {
  marks_.clear();
  const bool was_open = scan_.depth > 0;
  const ScanResult result = scan_records(bytes, scan_, marks_);
  std::size_t begin = 0;  // of the open record, in `bytes`
  bool open = was_open;
  for (const RecordMark mark : marks_) {
    if (!mark.end) {
      begin = mark.offset;
      open = true;
      closed_ = false;
      continue;
    }
    end_record(bytes.substr(begin, mark.offset + 1 - begin), sink);
    open = false;
  }
  const std::string_view rest =
      open ? bytes.substr(begin, result.consumed - begin) : std::string_view{};
  switch (result.stop) {
    case ScanStop::end_of_bytes:
      if (open) keep(rest, sink);
      break;
    case ScanStop::closed:
      close_array();
      break;
    case ScanStop::torn:  // the '{' is looked at again, between records this time
      reject_open_record(rest, RejectReason::syntax, sink);
      scan_ = {};
      break;
    case ScanStop::broken_string:
      reject_open_record(rest, RejectReason::syntax, sink);
      scan_ = {};
      before_ = Before::nothing;
      mode_ = Mode::resync;
      break;
  }
  return result.consumed;
}

void RecordSplitter::close_array() {
  if (object_root_) {
    metadata_.events_end();
    mode_ = Mode::members;
  } else {
    closed_ = ended_ = true;
  }
}

void RecordSplitter::end_record(std::string_view rest, RecordSink& sink) {
  if (skipping_) {
    skipping_ = false;
  } else if (carry_.size() + rest.size() > kMaxRecordBytes) {
    sink.rejected(RejectReason::too_long, carry_.empty() ? rest : std::string_view{carry_});
  } else if (carry_.empty()) {
    sink.record(rest);
    return;
  } else {
    carry_.append(rest);
    sink.record(carry_);
  }
  carry_.clear();
}

void RecordSplitter::keep(std::string_view part, RecordSink& sink) {
  if (skipping_) return;
  if (carry_.size() + part.size() > kMaxRecordBytes) {
    reject_open_record(part, RejectReason::too_long, sink);
    skipping_ = true;
  } else {
    carry_.append(part);
  }
}

void RecordSplitter::reject_open_record(std::string_view rest, RejectReason reason,
                                        RecordSink& sink) {
  if (!skipping_) {
    if (carry_.size() + rest.size() > kMaxRecordBytes) reason = RejectReason::too_long;
    sink.rejected(reason, carry_.empty() ? rest : std::string_view{carry_});
  }
  carry_.clear();
  skipping_ = false;
}

// The quotes are out of step, so only layout shows where a record begins: a '{' that begins a line,
// or one that follows "}," on the same line.
std::size_t RecordSplitter::resync(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '{' && (before_ == Before::line_break || before_ == Before::object_and_comma)) {
      mode_ = Mode::records;
      return i;
    }
    if (c == ']' && before_ == Before::line_break) {
      mode_ = Mode::records;
      return i;
    }
    if (c == '\n') {
      before_ = Before::line_break;
    } else if (c == '}') {
      before_ = Before::object;
    } else if (c == ',' && before_ == Before::object) {
      before_ = Before::object_and_comma;
    } else if (!is_space(c)) {
      before_ = Before::nothing;
    }
  }
  return bytes.size();
}

void RecordSplitter::finish(RecordSink& sink) {
  const bool open_record = mode_ == Mode::records && scan_.depth > 0;
  if (open_record) {
    reject_open_record({}, RejectReason::syntax, sink);
  } else if (mode_ == Mode::members && !closed_ && metadata_.inside_member()) {
    sink.rejected(RejectReason::syntax, metadata_.value());
  }
  if (open_record) scan_ = {};
}

void RecordSplitter::cut_back(std::size_t bytes) {
  if (mode_ != Mode::records) return;
  if (scan_.depth == 0 || carry_.size() <= bytes) {
    scan_ = {};
    carry_.clear();
    skipping_ = false;
    return;
  }
  // Inside a record: scan what is left of it once more.
  carry_.resize(carry_.size() - bytes);
  scan_ = {};
  marks_.clear();
  scan_records(carry_, scan_, marks_);
}

void RecordSplitter::state(StateIo& io) {
  io(mode_);
  io(before_);
  io(object_root_);
  io(closed_);
  io(ended_);
  io(skipping_);
  io(scan_);
  io(carry_);
  io(metadata_);
  if (mode_ >= Mode::count_ || carry_.size() > kMaxRecordBytes) io.fail();
}

}  // namespace trainwatch
