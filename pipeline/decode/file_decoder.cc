#include "pipeline/decode/file_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/decode/chrome_trace_decoder.h"
#include "pipeline/decode/inflate_stream.h"
#include "pipeline/decode/recogniser.h"
#include "pipeline/decode/system_metrics_decoder.h"
#include "pipeline/decode/tensorflow_trace_decoder.h"
#include "pipeline/decode/timeline_decoder.h"

namespace trainwatch {
namespace {

constexpr char kGzip[] = {'\x1f', '\x8b'};

std::unique_ptr<Decoder> make_decoder(Format format, const FileContext& context) {
  switch (format) {
    case Format::system_metrics:
      return std::make_unique<SystemMetricsDecoder>(context);
    case Format::timeline:
      return std::make_unique<TimelineDecoder>(context);
    case Format::chrome_trace:
      return std::make_unique<ChromeTraceDecoder>(context);
    case Format::tensorflow_trace:
      return std::make_unique<TensorflowTraceDecoder>(context);
    case Format::undecided:
    case Format::unknown:
    case Format::empty:
      break;
  }
  return nullptr;
}

}  // namespace

struct FileDecoder::Parts {
  enum class Encoding : std::uint8_t { undecided, plain, gzip, count_ };

  explicit Parts(FileContext file_context) : context(std::move(file_context)) {}

  void reject(RejectReason reason, std::string_view sample) {
    context.diagnostics.reject(context.file, reason, sample);
  }
  void find_encoding(std::string_view bytes, EventBatch& out);
  void decode(std::string_view bytes, EventBatch& out);
  void inflated(std::string_view bytes, EventBatch& out);
  void contents(std::string_view bytes, EventBatch& out);
  std::string_view without_hole(std::string_view bytes);
  void end_of_contents(EventBatch& out);
  void new_contents(EventBatch& out);
  void go_on_from(FileDecoder& plain);
  void decided(Format found, EventBatch& out);

  FileContext context;
  Encoding encoding = Encoding::undecided;
  Format format = Format::undecided;
  bool damage_reported = false;
  bool hole_reported = false;
  std::string head;                        // not yet recognised
  std::unique_ptr<InflateStream> inflate;  // gzip only
  std::unique_ptr<Decoder> decoder;        // none before the format is known
  KnownBeginning beginning;
  std::uint64_t records_before = 0;  // of a decoder that was taken over
  TakeOver take_over;
};

void FileDecoder::Parts::find_encoding(std::string_view bytes, EventBatch& out) {
  head.append(bytes);
  if (head.empty() || (head[0] == kGzip[0] && head.size() < 2)) return;
  const bool gzip = head[0] == kGzip[0] && head[1] == kGzip[1];
  encoding = gzip ? Encoding::gzip : Encoding::plain;
  if (gzip) inflate = std::make_unique<InflateStream>();
  const std::string begun = std::exchange(head, {});
  decode(begun, out);
}

void FileDecoder::Parts::decode(std::string_view bytes, EventBatch& out) {
  if (encoding == Encoding::undecided) return find_encoding(bytes, out);
  if (encoding == Encoding::plain) return contents(bytes, out);
  inflate->push(bytes);
  for (std::string_view piece = inflate->pull(); !piece.empty(); piece = inflate->pull()) {
    inflated(piece, out);
  }
  if (inflate->at_end() && !beginning.decided()) end_of_contents(out);
  if (!inflate->damaged() || damage_reported) return;
  damage_reported = true;
  reject(RejectReason::gzip, bytes);
}

void FileDecoder::Parts::inflated(std::string_view bytes, EventBatch& out) {
  if (beginning.decided()) return contents(bytes, out);
  beginning.feed(bytes);
  if (beginning.decided()) new_contents(out);
}

void FileDecoder::Parts::end_of_contents(EventBatch& out) {
  beginning.finish();
  new_contents(out);
}

void FileDecoder::Parts::new_contents(EventBatch& out) {
  if (const auto file = beginning.repeated(); file && take_over) {
    if (const auto plain = take_over(*file)) go_on_from(*plain);
  }
  if (beginning.lost() > 0) reject(RejectReason::too_long, "a compressed copy that differs late");
  const std::string rest = beginning.take_rest();
  if (!rest.empty()) contents(rest, out);
}

// Takes over format, decoder and what waits to be recognised.
void FileDecoder::Parts::go_on_from(FileDecoder& plain) {
  Parts& old = *plain.parts_;
  format = old.format;
  head = std::move(old.head);
  decoder = make_decoder(format, context);
  if (decoder == nullptr) return;
  StateIo saving = StateIo::saving();
  old.decoder->state(saving);
  const std::string state = saving.take();
  StateIo loading = StateIo::loading(state);
  decoder->state(loading);
  decoder->take_unsaved(*old.decoder);
  records_before = decoder->records();
}

void FileDecoder::Parts::contents(std::string_view bytes, EventBatch& out) {
  if (decoder != nullptr) {
    decoder->feed(bytes, out);
  } else if (format == Format::undecided) {
    head.append(without_hole(bytes));
    if (!head.empty()) decided(recognise(head, context.path), out);
  }
}

// A writer that goes on at its old offset in a file that was truncated leaves NULs before its
// bytes.
std::string_view FileDecoder::Parts::without_hole(std::string_view bytes) {
  if (!head.empty()) return bytes;
  const std::size_t end = std::min(bytes.find_first_not_of('\0'), bytes.size());
  if (end > 0 && !std::exchange(hole_reported, true)) reject(RejectReason::syntax, bytes);
  return bytes.substr(end);
}

void FileDecoder::Parts::decided(Format found, EventBatch& out) {
  format = found;
  if (format == Format::undecided) return;
  const std::string begun = std::exchange(head, {});
  if (format == Format::unknown) reject(RejectReason::unknown_format, begun);
  decoder = make_decoder(format, context);
  if (decoder != nullptr) decoder->feed(begun, out);
}

FileDecoder::FileDecoder(FileContext context)
    : parts_(std::make_unique<Parts>(std::move(context))) {}
FileDecoder::FileDecoder(FileContext context, std::vector<KnownBeginning::Candidate> plain,
                         TakeOver take_over)
    : FileDecoder(std::move(context)) {
  parts_->beginning = KnownBeginning(std::move(plain));
  parts_->take_over = std::move(take_over);
}
FileDecoder::~FileDecoder() = default;

void FileDecoder::feed(std::string_view bytes, EventBatch& out) {
  parts_->decode(bytes, out);
}

void FileDecoder::finish(EventBatch& out) {
  if (parts_->encoding == Parts::Encoding::gzip && !parts_->beginning.decided()) {
    parts_->end_of_contents(out);
  }
  if (parts_->format == Format::undecided) {
    parts_->decided(recognise_all(parts_->head, parts_->context.path), out);
  }
  if (parts_->decoder != nullptr) parts_->decoder->finish(out);
}

void FileDecoder::renamed(std::string path) {
  parts_->context.path = std::move(path);
}

void FileDecoder::cut_back(std::uint64_t bytes) {
  if (parts_->encoding == Parts::Encoding::gzip) return;
  std::string& head = parts_->head;
  if (parts_->decoder != nullptr) {
    parts_->decoder->cut_back(bytes);
  } else {
    head.resize(head.size() - std::min<std::size_t>(bytes, head.size()));
  }
}

Format FileDecoder::format() const {
  return parts_->format;
}

bool FileDecoder::complete() const {
  if (parts_->decoder == nullptr || !parts_->decoder->complete()) return false;
  return parts_->inflate == nullptr || parts_->inflate->at_end();
}

bool FileDecoder::mid_record() const {
  return parts_->decoder != nullptr && parts_->decoder->mid_record();
}

std::uint64_t FileDecoder::records() const {
  return parts_->decoder != nullptr ? parts_->decoder->records() - parts_->records_before : 0;
}

std::optional<ProvisionalCycle> FileDecoder::provisional() const {
  return parts_->decoder != nullptr ? parts_->decoder->provisional() : std::nullopt;
}

bool FileDecoder::must_read_again() const {
  return parts_->decoder != nullptr && parts_->records_before == 0 &&
         parts_->decoder->must_read_again();
}

bool FileDecoder::may_go_on_from(FileId plain) const {
  return parts_->beginning.may_repeat(plain);
}

void FileDecoder::state(StateIo& io) {
  Parts& parts = *parts_;
  io(parts.encoding);
  io(parts.format);
  io(parts.damage_reported);
  io(parts.hole_reported);
  io(parts.head);
  io(parts.beginning);
  io(parts.records_before);
  if (parts.encoding >= Parts::Encoding::count_ || parts.format > kLastFormat) {
    io.fail();
    return;
  }
  if (io.is_loading()) {
    const bool gzip = parts.encoding == Parts::Encoding::gzip;
    parts.inflate = gzip ? std::make_unique<InflateStream>() : nullptr;
    parts.decoder = make_decoder(parts.format, parts.context);
  }
  if (parts.inflate != nullptr) parts.inflate->state(io);
  if (parts.decoder != nullptr) parts.decoder->state(io);
}

}  // namespace trainwatch
