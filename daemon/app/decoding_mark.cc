// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/decoding_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

namespace trainwatch {

// As it lies in the file, one for each thread.
struct DecodingNote {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t length = 0;  // of the path; 0: nothing is noted
  std::array<char, PATH_MAX> path{};

  std::string_view path_view() const {
    return {path.data(), std::min<std::size_t>(length, path.size())};
  }
};

// Where the note of a thread lies, and what it would be.
struct ThreadMark {
  int file = -1;  // < 0: none
  off_t place = 0;
  DecodingNote now{};

  bool write(const DecodingNote& note) const {
    return ::pwrite(file, &note, sizeof(note), place) == sizeof(note);
  }
};

namespace {

// The fault may be a stack overflow, so its handler needs a stack of its own.
class SignalStack {
 public:
  SignalStack() {
    stack_t known{};
    if (::sigaltstack(nullptr, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) return;
    memory_.resize(kSize);
    const stack_t own{.ss_sp = memory_.data(), .ss_flags = 0, .ss_size = memory_.size()};
    ::sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (!memory_.empty()) ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kSize = std::size_t{64} << 10U;
  std::vector<std::byte> memory_;  // empty: somebody else gave the thread one
};

// A signal handler has no other way to find out what its thread is decoding.
thread_local const ThreadMark* t_decoding = nullptr;

constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, kFaults.size()> g_handled_before;

void on_fault(int signal, siginfo_t* info, void*) {
  if (t_decoding != nullptr) (void)t_decoding->write(t_decoding->now);
  const auto place = std::ranges::find(kFaults, signal) - kFaults.begin();
  ::sigaction(signal, &g_handled_before[static_cast<std::size_t>(place)], nullptr);
  // A fault that the kernel raised recurs when its instruction is executed again.
  if (info->si_code <= 0) ::raise(signal);
}

void handle_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction handler {};
    handler.sa_sigaction = &on_fault;
    handler.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < kFaults.size(); ++i) {
      ::sigaction(kFaults[i], &handler, &g_handled_before[i]);
    }
  });
}

}  // namespace

class DecodingMark::Thread final : public DecodeWatch {
 public:
  ~Thread() override {
    if (mark_.file >= 0) (void)mark_.write({});
  }

  void open(const ThreadMark& mark) { mark_ = mark; }
  void look();

  void begins(std::string_view path, std::uint64_t from, std::uint64_t to) override;
  void ended() override;
  void failed() override;

 private:
  std::mutex mutex_;
  ThreadMark mark_;           // `now` is guarded, but for its own thread
  bool is_decoding_ = false;  // guarded
  // Of look():
  std::string before_;  // what was decoded; empty: nothing
  bool noted_ = false;
};

void DecodingMark::Thread::begins(std::string_view path, std::uint64_t from, std::uint64_t to) {
  if (mark_.file < 0) return;
  static thread_local const SignalStack kSignalStack;
  {
    const std::scoped_lock lock(mutex_);
    DecodingNote& now = mark_.now;
    now.from = from;
    now.to = to;
    now.length = static_cast<std::uint32_t>(std::min(path.size(), now.path.size()));
    std::memcpy(now.path.data(), path.data(), now.length);
    is_decoding_ = true;
  }
  t_decoding = &mark_;
}

void DecodingMark::Thread::ended() {
  t_decoding = nullptr;
  const std::scoped_lock lock(mutex_);
  is_decoding_ = false;
}

void DecodingMark::Thread::failed() {
  t_decoding = nullptr;
  if (mark_.file >= 0) (void)mark_.write(mark_.now);
}

// Writes without the lock: the thread that decodes must not wait for the disk.
void DecodingMark::Thread::look() {
  if (mark_.file < 0) return;
  DecodingNote now;
  {
    const std::scoped_lock lock(mutex_);
    if (is_decoding_) now = mark_.now;
  }
  const bool lasts = now.length > 0 && now.path_view() == before_;
  before_ = now.path_view();
  if (lasts || noted_) (void)mark_.write(lasts ? now : DecodingNote{});
  noted_ = lasts;
}

DecodingMark::DecodingMark() {
  for (auto& thread : threads_) thread = std::make_unique<Thread>();
}

DecodingMark::~DecodingMark() = default;

Result<std::vector<DecodingMark::Place>> DecodingMark::open(const std::string& directory) {
  const std::string path = directory + "/state.db.decoding";
  file_ = FileHandle(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_.valid()) return Error{path + ": " + std::strerror(errno)};
  std::vector<Place> left;
  std::array<ThreadMark, 2> marks;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    marks[i].file = file_.get();
    marks[i].place = static_cast<off_t>(i * sizeof(DecodingNote));
    DecodingNote note;
    const bool whole = ::pread(file_.get(), &note, sizeof(note), marks[i].place) == sizeof(note);
    // What cannot be taken away would be found again by the next process.
    if (!marks[i].write({})) return Error{path + ": " + std::strerror(errno)};
    if (whole && note.length > 0)
      left.push_back({std::string(note.path_view()), note.from, note.to});
  }
  for (std::size_t i = 0; i < marks.size(); ++i) threads_[i]->open(marks[i]);
  handle_faults();
  return left;
}

void DecodingMark::look() {
  for (const auto& thread : threads_) thread->look();
}

DecodeWatch& DecodingMark::engine() {
  return *threads_[0];
}
DecodeWatch& DecodingMark::reader() {
  return *threads_[1];
}

}  // namespace trainwatch
