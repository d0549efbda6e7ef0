// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/file_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/decode/gzip_stream.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b\x08";

// Kept of a finished file without a recognised format: enough for a truncated first record.
constexpr std::size_t kMostKeptHead = 1024;

}  // namespace

struct FileDecoder::Impl {
  enum class Encoding : std::uint8_t { undecided, plain, gzip, count_ };

  Impl(FileContext file_context, FormatTable table)
      : context(std::move(file_context)), formats(table) {
    context.declared = table.declared;
  }

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
  void continue_from(FileDecoder& plain);
  std::string_view with_head(std::string_view bytes, std::string& copy);
  void decided(const Format& found, std::string_view begun, EventBatch& out);
  void not_decoded(std::string_view bytes);
  void decide_by_end(EventBatch& out);
  void decide_again();
  void make_decoder();

  FileContext context;
  FormatTable formats;
  Encoding encoding = Encoding::undecided;
  const Format* format = &kUndecidedFormat;
  bool damage_reported = false;
  bool hole_reported = false;
  bool decided_by_end = false;             // no format was found; more bytes reopen the question
  std::string head;                        // before the format is known
  std::unique_ptr<InflateStream> inflate;  // gzip only
  std::unique_ptr<Decoder> decoder;        // none before the format is known
  PrefixDeduplicator prefix;
  Fingerprint all_inflated;
  std::uint64_t records_before = 0;  // of the decoder that was taken over
  ByteAccount bytes_before;          // the same
  ByteAccount outside;               // bytes that no decoder received
  TakeOver take_over;
  std::string delivered;  // of the former content, until there is a decoder
};

void FileDecoder::Impl::find_encoding(std::string_view bytes, EventBatch& out) {
  std::string copy;
  const std::string_view begun = with_head(bytes, copy);
  if (begun.empty()) return;
  // The length of a binary record may begin with the same two bytes: the third says how gzip packs.
  const std::string_view magic = kGzipMagic.substr(0, is_event_file(context.path) ? 3 : 2);
  if (begun.size() < magic.size() && magic.starts_with(begun)) {
    head = begun;
    return;
  }
  const bool gzip = begun.starts_with(magic);
  encoding = gzip ? Encoding::gzip : Encoding::plain;
  if (gzip) inflate = std::make_unique<InflateStream>();
  decode(begun, out);
}

// `head`, which is empty afterwards, and `bytes`. Copied only if there is something in `head`: the
// first bytes of a file are many, and nearly always enough.
std::string_view FileDecoder::Impl::with_head(std::string_view bytes, std::string& copy) {
  copy = std::exchange(head, {});
  return copy.empty() ? bytes : std::string_view{copy.append(bytes)};
}

void FileDecoder::Impl::decode(std::string_view bytes, EventBatch& out) {
  if (encoding == Encoding::undecided) {
    if (decided_by_end) decide_again();
    return find_encoding(bytes, out);
  }
  if (encoding == Encoding::plain) return contents(bytes, out);
  inflate->push(bytes);
  for (std::string_view piece = inflate->pull(); !piece.empty(); piece = inflate->pull()) {
    inflated(piece, out);
  }
  if (inflate->at_end() && !prefix.decided()) end_of_contents(out);
  if ((!inflate->damaged() && inflate->undecoded() == 0) || damage_reported) return;
  damage_reported = true;
  reject(RejectReason::gzip, bytes);
}

void FileDecoder::Impl::inflated(std::string_view bytes, EventBatch& out) {
  all_inflated.extend(bytes);
  if (prefix.decided()) return contents(bytes, out);
  prefix.feed(bytes);
  if (prefix.decided()) new_contents(out);
}

void FileDecoder::Impl::end_of_contents(EventBatch& out) {
  prefix.finish();
  new_contents(out);
}

void FileDecoder::Impl::new_contents(EventBatch& out) {
  if (const auto file = prefix.repeated(); file && take_over) {
    if (const auto plain = take_over(*file)) continue_from(*plain);
  }
  if (prefix.lost() > 0) reject(RejectReason::too_long, "a compressed copy that differs late");
  outside.skipped += prefix.lost();
  const std::string rest = prefix.take_rest();
  if (!rest.empty()) contents(rest, out);
}

// Takes over the format, the decoder and what waits for the format to be known.
void FileDecoder::Impl::continue_from(FileDecoder& plain) {
  Impl& old = *plain.impl_;
  for (Impl* const each : {this, &old}) {
    if (each->decided_by_end) each->decide_again();
  }
  format = old.format;
  head = std::move(old.head);
  make_decoder();
  if (decoder == nullptr) return;
  StateIo saving = StateIo::saving();
  old.decoder->state(saving);
  const std::string state = saving.take();
  StateIo loading = StateIo::loading(state);
  decoder->state(loading);
  decoder->take_unsaved(*old.decoder);
  records_before = decoder->records();
  bytes_before = decoder->bytes();
}

void FileDecoder::Impl::contents(std::string_view bytes, EventBatch& out) {
  if (decided_by_end) decide_again();
  if (decoder != nullptr) {
    decoder->feed(bytes, out);
  } else if (format == &kUndecidedFormat) {
    std::string copy;
    const std::string_view begun = with_head(without_hole(bytes), copy);
    if (!begun.empty()) decided(detect_format(formats, begun, context.path), begun, out);
  } else {
    not_decoded(bytes);
  }
}

void FileDecoder::Impl::not_decoded(std::string_view bytes) {
  (format == &kEmptyFormat ? outside.structure : outside.skipped) += bytes.size();
}

// A writer that continues at its old offset after its file was truncated leaves NULs before its
// bytes.
std::string_view FileDecoder::Impl::without_hole(std::string_view bytes) {
  if (!head.empty() || is_event_file(context.path)) return bytes;  // which may begin with a NUL
  const std::size_t end = std::min(bytes.find_first_not_of('\0'), bytes.size());
  if (end > 0 && !std::exchange(hole_reported, true)) reject(RejectReason::syntax, bytes);
  outside.skipped += end;
  return bytes.substr(end);
}

void FileDecoder::Impl::decided(const Format& found, std::string_view begun, EventBatch& out) {
  format = &found;
  if (format == &kUndecidedFormat) {
    head = begun;
    return;
  }
  if (format == &kUnknownFormat && is_named_as_ours(context.path)) {
    reject(RejectReason::unknown_format, begun);
  }
  // Whether it is one of ours cannot be seen, whatever its name. A hole was reported already, and
  // may be the first byte of a character.
  const bool other_encoding = format == &kUtf16Format || format == &kUtf32Format;
  if (other_encoding && !hole_reported) reject(RejectReason::utf8, begun);
  make_decoder();
  if (decoder != nullptr) return decoder->feed(begun, out);
  not_decoded(begun);
}

// Keeps the beginning of the file in case it grows: all of it if the name is one of ours, otherwise
// little, because output directories are full of unrelated files.
void FileDecoder::Impl::decide_by_end(EventBatch& out) {
  std::string begun = std::exchange(head, {});
  decided(detect_whole_file(formats, begun, context.path), begun, out);
  decided_by_end = decoder == nullptr;
  const bool keeps = begun.size() <= kMostKeptHead || is_named_as_ours(context.path);
  if (decided_by_end && keeps) head = std::move(begun);
}

void FileDecoder::Impl::decide_again() {
  decided_by_end = false;
  (format == &kEmptyFormat ? outside.structure : outside.skipped) -= head.size();
  format = &kUndecidedFormat;
}

void FileDecoder::Impl::make_decoder() {
  decoder = format->make != nullptr ? format->make(context) : nullptr;
  if (decoder == nullptr) return;
  if (const std::string former = std::exchange(delivered, {}); !former.empty()) {
    decoder->rewritten(former);
  }
}

FileDecoder::FileDecoder(FileContext context, FormatTable formats)
    : impl_(std::make_unique<Impl>(std::move(context), formats)) {}
FileDecoder::FileDecoder(FileContext context, FormatTable formats,
                         std::vector<PrefixDeduplicator::Candidate> candidates, TakeOver take_over)
    : FileDecoder(std::move(context), formats) {
  impl_->prefix = PrefixDeduplicator(std::move(candidates));
  impl_->take_over = std::move(take_over);
}
FileDecoder::~FileDecoder() = default;

void FileDecoder::feed(std::string_view bytes, EventBatch& out) {
  impl_->decode(bytes, out);
}

void FileDecoder::finish(EventBatch& out) {
  // A stream that so far repeats a plain file may continue.
  const bool undecided = impl_->encoding == Impl::Encoding::gzip && !impl_->prefix.decided();
  if (undecided && !impl_->prefix.seems_repeated()) impl_->end_of_contents(out);
  if (impl_->format == &kUndecidedFormat) impl_->decide_by_end(out);
  if (impl_->decoder != nullptr) impl_->decoder->finish(out);
}

void FileDecoder::written(Time time) {
  impl_->context.written = time;
}

void FileDecoder::renamed(std::string path) {
  impl_->context.path = std::move(path);
}

void FileDecoder::cut_back(std::uint64_t bytes) {
  if (impl_->encoding == Impl::Encoding::gzip) return;
  std::string& head = impl_->head;
  if (impl_->decoder != nullptr) {
    impl_->decoder->cut_back(bytes);
  } else {
    head.resize(head.size() - std::min<std::size_t>(bytes, head.size()));
  }
}

std::string_view FileDecoder::format() const {
  return impl_->format->name;
}

std::string FileDecoder::delivered() const {
  return impl_->decoder != nullptr ? impl_->decoder->delivered() : impl_->delivered;
}

void FileDecoder::rewritten(std::string delivered) {
  impl_->delivered = std::move(delivered);
}

std::string_view FileDecoder::declared() const {
  return impl_->decoder != nullptr ? impl_->decoder->declared() : std::string_view{};
}

bool FileDecoder::is_plain() const {
  return impl_->encoding == Impl::Encoding::plain;
}
bool FileDecoder::complete() const {
  if (impl_->decoder == nullptr || !impl_->decoder->complete()) return false;
  return impl_->inflate == nullptr || impl_->inflate->at_end();
}

bool FileDecoder::mid_record() const {
  return impl_->decoder != nullptr && impl_->decoder->mid_record();
}

bool FileDecoder::unrecognised() const {
  const bool undecided =
      impl_->format == &kUndecidedFormat && is_named_as_ours(impl_->context.path);
  return undecided && !means_nothing(impl_->head);
}

std::uint64_t FileDecoder::records() const {
  return impl_->decoder != nullptr ? impl_->decoder->records() - impl_->records_before : 0;
}

std::uint64_t FileDecoder::definitions() const {
  return impl_->decoder != nullptr ? impl_->decoder->definitions() : 0;
}

bool FileDecoder::has_open_span() const {
  return impl_->decoder != nullptr && impl_->decoder->has_open_span();
}

bool FileDecoder::has_parts() const {
  return impl_->encoding != Impl::Encoding::gzip && impl_->format->parts;
}

ByteAccount FileDecoder::bytes() const {
  ByteAccount all = impl_->decoder != nullptr ? impl_->decoder->bytes() : ByteAccount{};
  all -= impl_->bytes_before;
  all += impl_->outside;
  return all;
}

const Fingerprint& FileDecoder::inflated() const {
  return impl_->all_inflated;
}

std::uint64_t FileDecoder::undecoded() const {
  return impl_->inflate != nullptr ? impl_->inflate->undecoded() : 0;
}

std::optional<ProvisionalCycle> FileDecoder::provisional() const {
  return impl_->decoder != nullptr ? impl_->decoder->provisional() : std::nullopt;
}

bool FileDecoder::needs_replay() const {
  return impl_->decoder != nullptr && impl_->records_before == 0 && impl_->decoder->needs_replay();
}

void FileDecoder::take_unsaved(FileDecoder& old) {
  if (impl_->decoder != nullptr) impl_->decoder->take_unsaved(*old.impl_->decoder);
}

bool FileDecoder::may_continue_from(FileId plain) const {
  return impl_->prefix.may_repeat(plain);
}

std::size_t FileDecoder::held() {
  StateIo io = StateIo::counting();
  state(io);
  std::size_t held = io.counted();
  if (impl_->decoder != nullptr) held += impl_->decoder->unsaved_bytes();
  return held;
}

void FileDecoder::state(StateIo& io) {
  Impl& impl = *impl_;
  std::string format(impl.format->name);
  io(impl.encoding);
  io(format);
  io(impl.damage_reported);
  io(impl.hole_reported);
  io(impl.decided_by_end);
  io(impl.head);
  io(impl.prefix);
  io(impl.all_inflated);
  io(impl.records_before);
  io(impl.bytes_before);
  io(impl.outside);
  io(impl.context.written);
  const Format* const known = find_format(impl.formats, format);
  if (impl.encoding >= Impl::Encoding::count_ || known == nullptr) return io.fail();
  if (io.is_loading()) {
    const bool gzip = impl.encoding == Impl::Encoding::gzip;
    impl.inflate = gzip ? std::make_unique<InflateStream>() : nullptr;
    impl.format = known;
    impl.make_decoder();
  }
  io(impl.delivered);
  if (impl.inflate != nullptr) impl.inflate->state(io);
  if (impl.decoder != nullptr) impl.decoder->state(io);
}

}  // namespace trainwatch
