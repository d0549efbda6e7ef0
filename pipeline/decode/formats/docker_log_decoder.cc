// SPDX-License-Identifier: Apache-2.0
// Docker's json-file logs: an object for each line that a container printed, which the console
// decoder reads as if kubelet had written it.
//
//     {"log":"step 1 loss 2.3\n","stream":"stdout","time":"2026-09-21T14:13:22.101202303Z"}
//
// Docker cuts lines of more than 16 KiB; a piece that is not the last one ends without a line feed.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/line_splitter.h"

namespace trainwatch {

extern const Format console_format;

namespace {

struct DockerLine {
  std::string_view log;  // as raw text, like the others
  std::string_view stream;
  std::string_view time;
};

std::optional<DockerLine> read_docker_line(std::string_view line) {
  DockerLine read;
  JsonCursor cursor{line};
  if (!cursor.enter()) return std::nullopt;
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (key == "log") read.log = value;
    if (key == "stream") read.stream = value;
    if (key == "time") read.time = value;
  }
  const bool whole = !cursor.failed() && cursor.at_end() && is_string_token(read.log) &&
                     is_string_token(read.stream) && is_string_token(read.time);
  return whole ? std::optional(read) : std::nullopt;
}

class DockerLogDecoder final : public Decoder {
 public:
  explicit DockerLogDecoder(const FileContext& context)
      : context_(context), console_(console_format.make(context)) {}

  void feed(std::string_view bytes, EventBatch& out) override {
    finished_ = false;
    lines_.feed(
        bytes, [&](std::string_view text) { line(text, out); },
        [&](std::string_view beginning) {
          context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
        });
  }
  void finish(EventBatch& out) override {
    finished_ = true;
    console_->finish(out);
  }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  std::uint64_t records() const override { return console_->records(); }
  std::string_view declared() const override { return console_->declared(); }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }
  void state(StateIo& io) override {
    io(lines_);
    io(account_);
    io(continues_);
    console_->state(io);
  }

 private:
  void line(std::string_view text, EventBatch& out);

  const FileContext& context_;
  std::unique_ptr<Decoder> console_;
  LineSplitter lines_;
  ByteAccount account_;
  bool continues_ = false;  // the next piece is of the same line
  bool finished_ = false;
  StringReader strings_;
  std::string printed_;  // reused
};

void DockerLogDecoder::line(std::string_view text, EventBatch& out) {
  const std::size_t bytes = text.size() + 1;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
    account_.structure += bytes;
    return;
  }
  const auto read = read_docker_line(text);
  const auto log = read ? strings_.read(read->log) : std::nullopt;
  if (!log) {
    account_.rejected += bytes;
    return context_.diagnostics.reject(context_.file, RejectReason::syntax, text);
  }
  printed_.clear();
  if (!continues_) {
    printed_.append(between_quotes(read->time)).append(" ");
    printed_.append(between_quotes(read->stream)).append(" F ");
  }
  printed_.append(*log);
  continues_ = !log->ends_with('\n');
  const std::uint64_t before = console_->records();
  console_->feed(printed_, out);
  (console_->records() > before ? account_.records : account_.structure) += bytes;
}

// By its first line, which has ended.
Detection detect_docker_log(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  std::string_view head = clue.head;
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  constexpr std::string_view kBegins = "{\"log\"";
  if (head.size() < kBegins.size() && kBegins.starts_with(head)) return Detection::undecided;
  if (!head.starts_with(kBegins)) return Detection::no;
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos) return Detection::undecided;
  return read_docker_line(head.substr(0, end)) ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format docker_log_format = {.name = "docker_log",
                                         .lines = true,
                                         .detect = &detect_docker_log,
                                         .make = &make_decoder<DockerLogDecoder>};

}  // namespace trainwatch
