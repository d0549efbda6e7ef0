// SPDX-License-Identifier: Apache-2.0
// Everything between the raw bytes of one file and its events: gzip is detected and inflated as a
// stream, the format is detected by content, and a decoder of that format does the rest.
//
// The result is independent of how the bytes are cut. Owned and used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/prefix_deduplicator.h"
#include "pipeline/tail/fingerprint.h"

namespace trainwatch {

class FileDecoder {
 public:
  // Hands over the decoder of a file whose contents this compressed file repeats and continues;
  // null if that file is finished.
  using TakeOver = std::function<std::unique_ptr<FileDecoder>(FileId)>;

  // The table outlives the decoder.
  FileDecoder(FileContext context, FormatTable formats);
  // For a file that may repeat one of `candidates` if it turns out to be compressed.
  FileDecoder(FileContext context, FormatTable formats,
              std::vector<PrefixDeduplicator::Candidate> candidates, TakeOver take_over);
  ~FileDecoder();

  // The next bytes of the file, compressed or not, at any cut.
  void feed(std::string_view bytes, EventBatch& out);

  // When the file was last written to, for the bytes that are fed from now on.
  void written(Time time);

  // See Decoder::finish. May be called twice, and feed() after it.
  void finish(EventBatch& out);

  // The writer renamed the file; node, rank or timestamps may be known only now.
  void renamed(std::string path);

  // The writer removed the last `bytes` (1 or 2) of the file, the separator after the last record,
  // to close its array. Bytes fed from now on continue there.
  void cut_back(std::uint64_t bytes);

  // The name of the format, "undecided" at first.
  std::string_view format() const;
  // See Decoder::delivered.
  std::string delivered() const;
  // Call before feed().
  void rewritten(std::string delivered);
  // See Decoder::declared.
  std::string_view declared() const;
  bool is_plain() const;    // known not to be compressed
  bool complete() const;    // the file's own end mark was read, and the gzip trailer if any
  bool mid_record() const;  // the bytes so far end in the middle of a record
  // The name promises a format, and the contents so far are of none: not even of a beginning that
  // means nothing yet, such as "[".
  bool unrecognised() const;
  std::uint64_t records() const;
  // See Decoder.
  std::uint64_t definitions() const;
  bool has_open_span() const;
  // See Format::parts; false of compressed contents.
  bool has_parts() const;
  // What became of the contents that were new; all of them after finish().
  ByteAccount bytes() const;
  // Bytes of a compressed file that could not be inflated.
  std::uint64_t undecoded() const;
  // All contents of a compressed file so far, also what was not new; empty for a plain one.
  const Fingerprint& inflated() const;
  // Bytes that are part of no record: those skipped and those not inflated. Never decreases.
  std::uint64_t skipped() const { return bytes().skipped + undecoded(); }
  std::optional<ProvisionalCycle> provisional() const;
  void state(StateIo& io);
  // About how many bytes the contents make it hold: its state, and what is not saved.
  std::size_t held();
  // See Decoder::take_unsaved.
  void take_unsaved(FileDecoder& old);
  // See Decoder::needs_replay. False if the file continues the contents of another one.
  bool needs_replay() const;
  // Not decided yet: this compressed file may continue the contents of `plain`.
  bool may_continue_from(FileId plain) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwatch
