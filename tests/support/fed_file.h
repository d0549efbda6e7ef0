// SPDX-License-Identifier: Apache-2.0
// A file whose content reaches a sink as the tailer would hand it over, without a file system.
#pragma once

#include <string_view>
#include <utility>

#include "pipeline/tail/tailer.h"

namespace trainwatch::test {

class FedFile {
 public:
  // `read`: what the sink has of it already.
  FedFile(TailSink& sink, FileId id, Fingerprint read = {})
      : sink_(sink), id_(id), read_(std::move(read)) {}

  void append(std::string_view bytes) {
    read_.extend(bytes);
    sink_.data(id_, {bytes, Time{}, read_});
  }
  // Its content is gone, after the call that says so to the sink.
  void restart() { read_.clear(); }

 private:
  TailSink& sink_;
  FileId id_;
  Fingerprint read_;
};

}  // namespace trainwatch::test
