// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/root_thread.h"

#include "daemon/app/guarded_thread.h"

namespace trainwatch {

RootThread::RootThread(const std::function<std::unique_ptr<FileSystem>()>& make,
                       std::chrono::milliseconds patience)
    : patience_(patience),
      state_(std::make_shared<State>()),
      work_(boost::asio::make_work_guard(state_->context)) {
  state_->files = make();
  thread_ = std::thread([state = state_] { run_guarded("files", [&] { state->context.run(); }); });
}

RootThread::~RootThread() {
  const bool idle = call([](FileSystem&) -> Result<bool> { return true; }).ok();
  work_.reset();
  if (idle) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void RootThread::close(std::shared_ptr<OpenFile> file) {
  boost::asio::post(state_->context, [file = std::move(file)]() mutable { file.reset(); });
}

RootThread::Clock::duration RootThread::silence() const {
  return answers() ? Clock::duration{} : Clock::now() - asked_at_;
}

Error RootThread::no_answer() {
  return Error{"the file system does not answer"};
}

}  // namespace trainwatch
