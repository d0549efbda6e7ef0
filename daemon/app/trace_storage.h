// SPDX-License-Identifier: Apache-2.0
// Storage for a trace that is being made: its document, in memory or on disk, and events that do
// not fit into memory. Used on the thread of a request (FileWorker), except for reading a stored
// document.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/app/file_worker.h"
#include "daemon/net/stored_body.h"
#include "pipeline/decode/gzip_stream.h"
#include "pipeline/timeline/spill_file.h"
#include "pipeline/timeline/trace_copy.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Collects a document, optionally compressed, up to a maximum size as sent.
class Document : public TextSink {
 public:
  enum class End : std::uint8_t { complete, too_long, failed };

  ~Document() override = default;
  void write(std::string_view text) final { deflate_ ? deflate_->write(text) : put(text); }
  // Call once, last.
  End finish();

 protected:
  Document(bool gzip, std::uint64_t most_bytes);
  virtual Status keep(std::string_view bytes) = 0;

 private:
  void put(std::string_view bytes);

  std::optional<DeflateStream> deflate_;
  std::uint64_t bytes_left_;
  End end_ = End::complete;
};

class MemoryDocument final : public Document {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20U;

  explicit MemoryDocument(bool gzip) : Document(gzip, kMostBytes) {}
  // After finish().
  std::string take() { return std::move(text_); }

 private:
  Status keep(std::string_view bytes) override;

  std::string text_;
};

// A budget of bytes on disk, shared by several documents. Thread-safe.
class SharedBytes {
 public:
  explicit SharedBytes(std::uint64_t most) : left_(most) {}
  // False: not enough bytes are left.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { left_ += bytes; }

 private:
  std::atomic<std::uint64_t> left_;
};

// Stored in a nameless file, which is deleted with this object. Any thread may read it after
// finish().
class StoredDocument final : public Document, public StoredBody {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

  // Takes its bytes from `room` and returns them when destroyed.
  StoredDocument(std::string directory, bool gzip, std::shared_ptr<SharedBytes> room);
  ~StoredDocument() override { room_->give_back(size_); }
  StoredDocument(const StoredDocument&) = delete;
  StoredDocument& operator=(const StoredDocument&) = delete;
  std::uint64_t size() const override { return size_; }
  bool read(std::uint64_t offset, std::span<char> buffer) override;

 private:
  Status keep(std::string_view bytes) override;

  SpillFile file_;
  std::shared_ptr<SharedBytes> room_;
  std::uint64_t size_ = 0;
};

// Spilled events, at most 1 GiB. Fails once the request has ended, which also ends the sorting.
class RequestRuns final : public RunStore {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

  // `files` are those of the request.
  RequestRuns(std::string directory, RequestFiles& files)
      : file_(std::move(directory), kMostBytes), files_(files) {}
  Status append(std::string_view bytes) override;
  Status read(std::uint64_t offset, std::span<char> buffer) override;
  void forget(std::uint64_t offset, std::uint64_t size) override { file_.forget(offset, size); }

 private:
  SpillFile file_;
  RequestFiles& files_;
};

// The contents of a gzip document; nullopt if they are too large for memory.
std::optional<std::string> inflated(std::string_view compressed);

}  // namespace trainwatch
