#include "daemon/app/reader.h"

#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "pipeline/tail/inotify_hint.h"
#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {

struct Reader::Impl {
  Impl(ReaderOptions wanted, TailSink& to, std::function<void(TailReport)> done)
      : options(std::move(wanted)),
        sink(to),
        pass_done(std::move(done)),
        files(options.roots),
        tailer(files, options.roots, options.limits, std::exchange(options.resume, {})),
        thread([this](const std::stop_token& stop) {
          run(stop);
          ended.set_value();
        }) {}

  void run(const std::stop_token& stop) {
    auto changed = InotifyHint::Wake::directories_changed;
    auto next_scan = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      const auto now = std::chrono::steady_clock::now();
      const bool poll = now >= next_scan;
      const bool names = poll || changed == InotifyHint::Wake::directories_changed;
      if (names || !tailer.refresh()) {
        tailer.scan(sink, now);
        if (poll) next_scan = now + options.poll_interval;
        watch_directories();
      }
      while (!stop.stop_requested() && tailer.read(sink)) report(now, false);
      report(std::chrono::steady_clock::now(), true);
      changed = hint.wait(std::exchange(rescan, false) ? std::chrono::milliseconds(0)
                                                       : options.poll_interval);
      if (changed == InotifyHint::Wake::timeout) next_scan = std::chrono::steady_clock::now();
    }
  }

  // One more scan finds what happened in a new directory before it was watched.
  void watch_directories() {
    const std::vector<std::string> directories = tailer.directories();
    rescan = directories.size() != watched;
    watched = directories.size();
    for (const std::string& directory : directories) hint.add(directory);
  }

  // Reports on the files to the engine, at most once a second. What is unread was already unread at
  // `behind_since`.
  void report(std::chrono::steady_clock::time_point behind_since, bool complete) {
    const auto now = std::chrono::steady_clock::now();
    const bool first_pass = complete && !std::exchange(passed, true);
    if (now < next_report && !first_pass) return;
    next_report = now + std::chrono::seconds(1);
    TailReport made;
    made.files = tailer.files();
    made.files_dropped = tailer.files_dropped();
    made.files_limit = options.limits.max_files;
    made.watch_degraded = hint.degraded();
    made.skipped = tailer.skipped();
    made.missing_roots = tailer.missing_roots();
    if (made.missing_roots.empty()) missing_since = now;
    made.missing_seconds = std::chrono::duration<double>(now - missing_since).count();
    made.complete = complete;
    made.lag_seconds = std::chrono::duration<double>(now - behind_since).count();
    pass_done(std::move(made));
  }

  ReaderOptions options;
  TailSink& sink;
  std::function<void(TailReport)> pass_done;
  PosixFileSystem files;
  InotifyHint hint;
  Tailer tailer;
  std::size_t watched = 0;  // directories
  bool rescan = false;
  bool passed = false;  // the first pass is over
  std::chrono::steady_clock::time_point next_report{};
  std::chrono::steady_clock::time_point missing_since = std::chrono::steady_clock::now();
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  std::jthread thread;  // last: it uses all of the above
};

Reader::Reader(ReaderOptions options, TailSink& sink, std::function<void(TailReport)> pass_done)
    : impl_(std::make_unique<Impl>(std::move(options), sink, std::move(pass_done))) {}

Reader::~Reader() {
  impl_->thread.request_stop();
  impl_->hint.wake();
}

bool Reader::stop(std::chrono::milliseconds patience) {
  impl_->thread.request_stop();
  impl_->hint.wake();
  return impl_->end.wait_for(patience) == std::future_status::ready;
}

}  // namespace trainwatch
