// SPDX-License-Identifier: Apache-2.0
// Turns the tailer's calls, on the reader's thread, into messages for the engine's thread. While
// kChunksInFlight chunks are not done with, the reader waits: the file is the overflow buffer.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/tail/tailer.h"

namespace trainwatch {

class EngineInbox final : public TailSink {
 public:
  using Message = std::function<void(TailSink&)>;
  // Called on the thread of the io_context, in the order of the tailer's calls.
  struct Handlers {
    std::function<void(FileId, const AppendedBytes&)> take;  // chunks_done() follows, perhaps later
    std::function<void(const Message&)> pass;                // to the sink of the pipeline
  };

  // `engine` outlives the inbox and whatever is posted.
  EngineInbox(boost::asio::io_context& engine, Handlers handlers)
      : engine_(engine), handlers_(std::move(handlers)) {}

  void opened(const KnownFile& file, const std::string& lane,
              const std::vector<FileId>& repeated) override {
    post([=](TailSink& sink) { sink.opened(file, lane, repeated); });
  }
  void data(FileId file, const AppendedBytes& appended) override {
    do {
      if (closed_) return;
    } while (!slots_.try_acquire_for(std::chrono::milliseconds(100)));
    ++waiting_;
    auto chunk = std::make_unique<Chunk>(Chunk{std::string(appended.bytes), appended.read});
    boost::asio::post(engine_, [this, file, written = appended.written, to_end = appended.to_end,
                                chunk = std::move(chunk)] {
      --waiting_;
      handlers_.take(file, {chunk->bytes, written, chunk->read, to_end});
    });
  }
  void renamed(const KnownFile& file) override {
    post([=](TailSink& sink) { sink.renamed(file); });
  }
  void cut_back(FileId file, std::uint64_t bytes) override {
    post([=](TailSink& sink) { sink.cut_back(file, bytes); });
  }
  void restarted(FileId file, std::uint64_t lost) override {
    post([=](TailSink& sink) { sink.restarted(file, lost); });
  }
  void finished(FileId file) override {
    post([=](TailSink& sink) { sink.finished(file); });
  }
  void read_error(FileId file, const std::string& what) override {
    post([=](TailSink& sink) { sink.read_error(file, what); });
  }
  void forgotten(FileId file, bool retired) override {
    post([=](TailSink& sink) { sink.forgotten(file, retired); });
  }
  void lane_forgotten(LaneId lane) override {
    post([=](TailSink& sink) { sink.lane_forgotten(lane); });
  }
  void checkpoint_written(const CheckpointFile& file) override {
    post([=](TailSink& sink) { sink.checkpoint_written(file); });
  }

  // True if no chunk is waiting. Thread-safe.
  bool empty() const { return waiting_ == 0; }
  void chunks_done(std::ptrdiff_t count) { slots_.release(count); }
  // From any thread. What comes from now on is dropped, and nobody waits.
  void close() { closed_ = true; }

 private:
  static constexpr int kChunksInFlight = 16;

  struct Chunk {
    std::string bytes;
    Fingerprint read;
  };

  // Whatever follows a dropped chunk must be dropped too.
  void post(Message message) {
    if (closed_) return;
    boost::asio::post(engine_, [this, message = std::move(message)] { handlers_.pass(message); });
  }

  boost::asio::io_context& engine_;
  Handlers handlers_;
  std::counting_semaphore<kChunksInFlight> slots_{kChunksInFlight};
  std::atomic<int> waiting_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace trainwatch
