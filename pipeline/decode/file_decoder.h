// Everything between the raw bytes of one file and its events: gzip is recognised and inflated as
// a stream, the format is recognised by content, and a decoder of that format does the rest.
//
// Result is independent of how the bytes are cut. Owned and used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/known_beginning.h"

namespace trainwatch {

class FileDecoder {
 public:
  // Gives away the decoder of a plain file whose contents this compressed one repeats and goes on
  // with; null when that file is finished.
  using TakeOver = std::function<std::unique_ptr<FileDecoder>(FileId)>;

  explicit FileDecoder(FileContext context);
  // For a file that may repeat one of `plain`, if it turns out to be compressed.
  FileDecoder(FileContext context, std::vector<KnownBeginning::Candidate> plain,
              TakeOver take_over);
  ~FileDecoder();

  // The next bytes of the file, compressed or not, at any cut.
  void feed(std::string_view bytes, EventBatch& out);

  // See Decoder::finish. Harmless when called twice.
  void finish(EventBatch& out);

  // The writer moved the file to a new name; node, rank or stamps may be known only now.
  void renamed(std::string path);

  // The end of file was cut back by `bytes` (1 or 2) that a writer removed to close its array: the
  // separator after the last record. Bytes fed from now on continue there.
  void cut_back(std::uint64_t bytes);

  Format format() const;
  bool complete() const;    // the file's own end was read, gzip trailer included
  bool mid_record() const;  // the bytes so far end in the middle of a record
  std::uint64_t records() const;
  std::optional<ProvisionalCycle> provisional() const;
  void state(StateIo& io);
  // See Decoder::must_read_again. False where the file goes on with the contents of another one.
  bool must_read_again() const;
  // It is not known yet whether this compressed file goes on with the contents of `plain`.
  bool may_go_on_from(FileId plain) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainwatch
