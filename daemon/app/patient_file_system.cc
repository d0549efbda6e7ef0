#include "daemon/app/patient_file_system.h"

#include <algorithm>
#include <span>
#include <utility>

#include "daemon/app/root_thread.h"
#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

using SharedFile = std::shared_ptr<OpenFile>;

class PatientFile final : public OpenFile {
 public:
  PatientFile(std::shared_ptr<RootThread> thread, SharedFile file)
      : thread_(std::move(thread)), file_(std::move(file)) {}
  ~PatientFile() override { thread_->close(std::move(file_)); }
  PatientFile(const PatientFile&) = delete;
  PatientFile& operator=(const PatientFile&) = delete;

  Result<FileStat> stat() override {
    return thread_->call([file = file_](FileSystem&) { return file->stat(); });
  }
  // Into bytes of its own: `buffer` may be gone when a call returns that was given up.
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    const auto bytes = std::make_shared<std::vector<char>>(buffer.size());
    auto size = thread_->call(
        [file = file_, offset, bytes](FileSystem&) { return file->read(offset, *bytes); });
    if (size) std::copy_n(bytes->begin(), *size, buffer.begin());
    return size;
  }

 private:
  std::shared_ptr<RootThread> thread_;
  SharedFile file_;
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
  const auto* const thread = thread_of(directory);
  if (thread == nullptr) return direct_->list(directory);
  return (*thread)->call([directory](FileSystem& files) { return files.list(directory); });
}

Result<FileStat> PatientFileSystem::stat(const std::string& path) {
  const auto* const thread = thread_of(path);
  if (thread == nullptr) return direct_->stat(path);
  return (*thread)->call([path](FileSystem& files) { return files.stat(path); });
}

Result<std::unique_ptr<OpenFile>> PatientFileSystem::open(const std::string& path) {
  const auto* const thread = thread_of(path);
  if (thread == nullptr) return direct_->open(path);
  auto opened = (*thread)->call([path](FileSystem& files) { return files.open(path); });
  if (!opened) return opened;
  return std::unique_ptr<OpenFile>(
      std::make_unique<PatientFile>(*thread, SharedFile(std::move(*opened))));
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

}  // namespace trainwatch
