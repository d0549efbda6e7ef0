// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/reader.h"

#include <sys/vfs.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "daemon/app/adaptive_interval.h"
#include "daemon/app/files_not_set_aside.h"
#include "daemon/app/guarded_thread.h"
#include "daemon/app/patient_file_system.h"
#include "daemon/app/read_until.h"
#include "daemon/app/wake_pace.h"
#include "pipeline/tail/inotify_hint.h"
#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long others wait for a file system that does not answer, once.
constexpr auto kAnswer = std::chrono::seconds(5);

// See seldom().
constexpr SteadyClock::duration kCovered = std::chrono::seconds(2);
constexpr SteadyClock::duration kQuiet = std::chrono::seconds(5);
constexpr auto kQuietAfter = std::chrono::seconds(5);

// How often the engine hears that everything has been read.
constexpr auto kReports = std::chrono::seconds(1);

// For so long other files may wait for one that is long.
constexpr auto kTurn = std::chrono::milliseconds(200);

// A root that does not exist yet may be mounted later.
bool may_hang(const WatchRoot& root) {
  struct statfs found {};
  return ::statfs(root.path.c_str(), &found) != 0 || !network_file_system(found.f_type).empty();
}

// What a call costs: its CPU time, or a part of its duration where it mostly waits, as for a
// network file system.
class Stopwatch {
 public:
  SteadyClock::duration elapsed() const {
    return std::max(cpu_time() - cpu_, (SteadyClock::now() - began_) / 10);
  }

 private:
  static SteadyClock::duration cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }

  SteadyClock::time_point began_ = SteadyClock::now();
  SteadyClock::duration cpu_ = cpu_time();
};

}  // namespace

struct Reader::Impl {
  Impl(ReaderOptions wanted, TailSink& to, std::function<void(TailReport)> done)
      : options(std::move(wanted)),
        sink(to),
        pass_done(std::move(done)),
        files(
            options.roots,
            [roots = options.roots, set_aside = options.set_aside] {
              return std::make_unique<FilesNotSetAside>(std::make_unique<PosixFileSystem>(roots),
                                                        set_aside);
            },
            may_hang, kAnswer),
        tailer(files, options.roots, options.limits, std::exchange(options.resume, {}),
               std::exchange(options.probe, {})),
        thread([this](const std::stop_token& stop) {
          run_guarded("reader", [&] { run(stop); });
          ended.set_value();
        }) {}

  void run(const std::stop_token& stop) {
    bool names_changed = true;
    bool complete = true;  // the last pass
    while (!stop.stop_requested()) {
      const auto now = SteadyClock::now();
      if (complete) behind_since = now;
      const bool ending = to_end;
      if (ending && needs_last_scan(names_changed)) {
        last_scan(now);
        names_changed = watch_directories() || tailer.has_unlooked();
      } else if (now >= polls.next() || (names_changed && now >= scans.next())) {
        scan(now);
        names_changed = watch_directories() || tailer.has_unlooked();
      } else if (!refresh(now)) {
        names_changed = true;
      }
      complete = read(stop);
      if (complete && !names_changed) read_until.complete_pass(now, files.silence());
      const bool last = ending && complete && !needs_last_scan(names_changed);
      report(complete, last);
      if (last) return at_end();
      const auto until = complete ? next_pass(names_changed) : now;
      const bool names = wait(until) == InotifyHint::Wake::directories_changed;
      names_changed = names_changed || names;
    }
  }

  void scan(SteadyClock::time_point now) {
    looked = true;
    if (const auto changed = hint.take_changed()) {
      tailer.look_at(*changed);
    } else {
      tailer.look_at_all();
    }
    const Stopwatch cost;
    tailer.scan(sink, now);
    const auto elapsed = cost.elapsed();
    if (!tailer.settled() || !tailer.missing_roots().empty()) moved = now;
    polls.done(now, elapsed, seldom(now));
    scans.done(now, elapsed);
    refreshes.done(now, elapsed, seldom(now));
  }

  // How often is enough to look at everything. Where inotify covers everything, only what is
  // written through a mapping or a link from elsewhere waits for it, and the ends of files that
  // were replaced.
  SteadyClock::duration seldom(SteadyClock::time_point now) const {
    if (!hint.degraded().empty()) return {};
    return now - moved < kQuietAfter ? kCovered : kQuiet;
  }

  // Files beyond the limit come in once others have been read.
  bool needs_last_scan(bool names_changed) const {
    return names_changed || !last_scanned || (read_since && tailer.files_dropped() > 0);
  }

  void last_scan(SteadyClock::time_point now) {
    tailer.look_at_all();
    read_since = false;
    last_scanned = true;
    scan(now);
  }

  // False: a scan is needed.
  bool refresh(SteadyClock::time_point now) {
    if (const auto changed = hint.take_changed(); changed && now < refreshes.next()) {
      looked = looked || !changed->empty();
      return tailer.refresh(*changed);
    }
    looked = true;
    const Stopwatch cost;
    const bool complete = tailer.refresh();
    refreshes.done(now, cost.elapsed(), seldom(now));
    return complete;
  }

  // True: everything was read. False: there is more, but other files may have grown meanwhile.
  bool read(const std::stop_token& stop) {
    const auto turn_ends = SteadyClock::now() + kTurn;
    while (!stop.stop_requested() && tailer.read(sink)) {
      read_since = looked = true;
      moved = SteadyClock::now();
      report(false, false);
      if (SteadyClock::now() < turn_ends) continue;
      tailer.end_turn();
      return false;
    }
    return !stop.stop_requested();
  }

  SteadyClock::time_point next_pass(bool names_changed) const {
    auto until = polls.next();
    if (names_changed) until = std::min(until, scans.next());
    if (!hint.degraded().empty()) until = std::min(until, refreshes.next());
    return std::min(until, next_report);
  }

  InotifyHint::Wake wait(SteadyClock::time_point until) {
    std::this_thread::sleep_until(std::min(until, wakes.asleep_until()));
    const auto patience = until - SteadyClock::now();
    const auto wake = hint.wait(std::chrono::ceil<std::chrono::milliseconds>(patience));
    if (wake < InotifyHint::Wake::files_changed || !kept_apart()) return wake;
    return std::max(wake, hint.wait(std::chrono::milliseconds(0)));
  }

  // True if it had to wait; more may have been written meanwhile.
  bool kept_apart() {
    const auto now = SteadyClock::now();
    const auto begin = wakes.next(now);
    if (begin > now) std::this_thread::sleep_until(begin);
    return begin > now;
  }

  // True: there are new ones. One more scan finds what happened there before they were watched.
  bool watch_directories() {
    bool any = false;
    for (const std::string& directory : tailer.directories()) any = hint.add(directory) || any;
    return any;
  }

  // Reports on the files to the engine, once a second and at the end. What is unread in the middle
  // of a pass was already unread at `behind_since`.
  void report(bool complete, bool last) {
    const auto now = SteadyClock::now();
    const bool first_pass = complete && !std::exchange(passed, true);
    if (now < next_report && !first_pass && !last) return;
    next_report = now + kReports;
    TailReport made;
    made.same_files = !std::exchange(looked, false);
    if (!made.same_files) made.files = tailer.files();
    made.files_dropped = tailer.files_dropped();
    made.files_limit = options.limits.max_files;
    made.watch_degraded = hint.degraded();
    made.skipped = tailer.skipped();
    made.missing_roots = tailer.missing_roots();
    if (made.missing_roots.empty()) missing_since = now;
    made.missing_seconds = std::chrono::duration<double>(now - missing_since).count();
    made.complete = complete;
    made.read_until = read_until.time();
    made.silent_seconds = std::chrono::duration<double>(files.silence()).count();
    made.lag_seconds = complete ? 0 : std::chrono::duration<double>(now - behind_since).count();
    pass_done(std::move(made));
  }

  ReaderOptions options;
  TailSink& sink;
  std::function<void(TailReport)> pass_done;
  PatientFileSystem files;
  InotifyHint hint;
  Tailer tailer;
  // A scan of 50,000 files takes a tenth of a second. Polls find what nothing else shows; where
  // inotify shows everything, names need a scan and growth a refresh of what grew.
  AdaptiveInterval polls{options.poll_interval, 20, std::chrono::seconds(10)};
  AdaptiveInterval scans{std::chrono::seconds(0), 4, std::chrono::seconds(1)};
  AdaptiveInterval refreshes{options.poll_interval, 10, std::chrono::seconds(1)};
  bool passed = false;                                 // the first pass is over
  bool last_scanned = false;                           // since the end was asked for
  bool read_since = false;                             // that scan
  bool looked = true;                                  // at files, since the last report
  SteadyClock::time_point moved = SteadyClock::now();  // when anything was read, or was to come
  ReadUntil read_until{SteadyClock::now()};
  SteadyClock::time_point behind_since = SteadyClock::now();  // the first pass since a complete one
  SteadyClock::time_point next_report{};
  WakePace wakes;
  SteadyClock::time_point missing_since = SteadyClock::now();
  std::function<void()> at_end;  // set before to_end
  std::atomic<bool> to_end{false};
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

void Reader::read_to_end(std::function<void()> at_end) {
  impl_->at_end = std::move(at_end);
  impl_->to_end = true;
  impl_->hint.wake();
}

std::chrono::steady_clock::duration Reader::call_duration() const {
  return impl_->files.call_duration();
}

bool Reader::stop(std::chrono::milliseconds patience) {
  impl_->thread.request_stop();
  impl_->hint.wake();
  const bool ended = impl_->end.wait_for(patience) == std::future_status::ready;
  return ended && impl_->files.silence() == impl_->files.silence().zero();
}

}  // namespace trainwatch
