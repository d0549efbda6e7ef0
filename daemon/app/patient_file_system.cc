// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/patient_file_system.h"

#include <algorithm>
#include <span>
#include <utility>

#include "daemon/app/root_thread.h"
#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

using SharedFile = std::shared_ptr<OpenFile>;

using SteadyClock = std::chrono::steady_clock;

class TimedCall {
 public:
  explicit TimedCall(PatientFileSystem::CallBegan& began) : began_(began) {
    began_ = SteadyClock::now().time_since_epoch().count();
  }
  ~TimedCall() { began_ = 0; }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  PatientFileSystem::CallBegan& began_;
};

class PatientFile final : public OpenFile {
 public:
  // `thread` is null where calls do not hang.
  PatientFile(std::shared_ptr<RootThread> thread, SharedFile file,
              std::shared_ptr<PatientFileSystem::CallBegan> began)
      : thread_(std::move(thread)), file_(std::move(file)), began_(std::move(began)) {}
  ~PatientFile() override {
    if (thread_ != nullptr) thread_->close(std::move(file_));
  }
  PatientFile(const PatientFile&) = delete;
  PatientFile& operator=(const PatientFile&) = delete;

  Result<FileStat> stat() override {
    const TimedCall timed(*began_);
    if (thread_ == nullptr) return file_->stat();
    return thread_->call([file = file_](FileSystem&) { return file->stat(); });
  }
  // Into bytes of its own: `buffer` may be gone when a call returns that was given up.
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    const TimedCall timed(*began_);
    if (thread_ == nullptr) return file_->read(offset, buffer);
    const auto bytes = std::make_shared<std::vector<char>>(buffer.size());
    auto size = thread_->call(
        [file = file_, offset, bytes](FileSystem&) { return file->read(offset, *bytes); });
    if (size) std::copy_n(bytes->begin(), *size, buffer.begin());
    return size;
  }

 private:
  std::shared_ptr<RootThread> thread_;
  SharedFile file_;
  std::shared_ptr<PatientFileSystem::CallBegan> began_;
};

// What lies beside a root that is a file belongs to it as well.
bool is_of(const std::string& path, const WatchRoot& root) {
  return lies_in(path, root) || parent_of(path) == parent_of(root.path) ||
         path == parent_of(root.path);
}

}  // namespace

PatientFileSystem::PatientFileSystem(std::vector<WatchRoot> roots, const Make& make,
                                     const MayHang& may_hang, std::chrono::milliseconds patience)
    : roots_(std::move(roots)), direct_(make()) {
  for (const WatchRoot& root : roots_) {
    auto thread = std::make_shared<RootThread>(make, patience);
    const auto hangs =
        thread->call([root, may_hang](FileSystem&) -> Result<bool> { return may_hang(root); });
    const bool needed = !hangs || *hangs;
    threads_.push_back(needed ? std::move(thread) : nullptr);
  }
}

PatientFileSystem::~PatientFileSystem() = default;

const std::shared_ptr<RootThread>* PatientFileSystem::thread_of(const std::string& path) const {
  const WatchRoot* root = root_of(path, roots_);
  if (root == nullptr) {
    const auto beside =
        std::ranges::find_if(roots_, [&path](const WatchRoot& each) { return is_of(path, each); });
    if (beside == roots_.end()) return nullptr;
    root = &*beside;
  }
  const auto& thread = threads_[static_cast<std::size_t>(root - roots_.data())];
  return thread == nullptr ? nullptr : &thread;
}

Result<std::vector<DirectoryEntry>> PatientFileSystem::list(const std::string& directory) {
  const TimedCall timed(*began_);
  const auto* const thread = thread_of(directory);
  if (thread == nullptr) return direct_->list(directory);
  return (*thread)->call([directory](FileSystem& files) { return files.list(directory); });
}

Result<FileStat> PatientFileSystem::stat(const std::string& path) {
  const TimedCall timed(*began_);
  const auto* const thread = thread_of(path);
  if (thread == nullptr) return direct_->stat(path);
  return (*thread)->call([path](FileSystem& files) { return files.stat(path); });
}

Result<std::unique_ptr<OpenFile>> PatientFileSystem::open(const std::string& path) {
  const TimedCall timed(*began_);
  const auto* const thread = thread_of(path);
  auto opened = thread == nullptr
                    ? direct_->open(path)
                    : (*thread)->call([path](FileSystem& files) { return files.open(path); });
  if (!opened) return opened;
  return std::unique_ptr<OpenFile>(std::make_unique<PatientFile>(
      thread == nullptr ? nullptr : *thread, SharedFile(std::move(*opened)), began_));
}

bool PatientFileSystem::answers(const std::string& root) const {
  const auto* const thread = thread_of(root);
  return thread == nullptr || (*thread)->answers();
}

std::chrono::steady_clock::duration PatientFileSystem::silence() const {
  std::chrono::steady_clock::duration longest{};
  for (const auto& thread : threads_) {
    if (thread != nullptr) longest = std::max(longest, thread->silence());
  }
  return longest;
}

std::chrono::steady_clock::duration PatientFileSystem::call_duration() const {
  const SteadyClock::duration began{began_->load()};
  if (began == began.zero()) return began;
  return SteadyClock::now().time_since_epoch() - began;
}

}  // namespace trainwatch
