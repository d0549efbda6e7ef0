// A progress bar on a terminal: bytes read of bytes there, redrawn at each full percent.
#pragma once

#include <cstdint>
#include <ostream>

#include "pipeline/tail/tailer.h"

namespace trainwatch {

class ProgressBar {
 public:
  ProgressBar(std::ostream& out, bool enabled) : out_(out), enabled_(enabled) {}

  void set_total(std::uint64_t bytes) { total_ = bytes; }

  void show_left(const Tailer& tailer) {
    if (!enabled_ || total_ == 0) return;
    const std::uint64_t left = tailer.unread_bytes();
    const int percent = static_cast<int>((total_ - (left < total_ ? left : total_)) * 100 / total_);
    if (percent == shown_) return;
    shown_ = percent;
    constexpr int kWidth = 40;
    const int filled = percent * kWidth / 100;
    out_ << "\r[" << std::string(static_cast<std::size_t>(filled), '#')
         << std::string(static_cast<std::size_t>(kWidth - filled), '.') << "] " << percent << " %"
         << std::flush;
  }

  void finish() {
    if (enabled_ && shown_ >= 0) out_ << '\n';
  }

 private:
  std::ostream& out_;
  bool enabled_;
  std::uint64_t total_ = 0;
  int shown_ = -1;
};

}  // namespace trainwatch
