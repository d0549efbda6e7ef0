// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/tensor_watch.h"

#include <chrono>
#include <utility>

namespace trainwatch {
namespace {

// New trials are looked for less often than new steps.
constexpr unsigned kFindEvery = 5;

}  // namespace

FileWorker::Options tensor_worker_options() {
  FileWorker::Options options;
  options.queue = 8;
  options.busy = "other tensors are being read; try again";
  options.too_slow =
      "the files could not be read in time; ask again, as what was read of the trial is kept, or "
      "use 'trainwatch tensors', which has no limit";
  return options;
}

TensorWatch::TensorWatch(boost::asio::io_context& net, FileWorker& worker,
                         std::vector<WatchRoot> roots, Listeners listeners)
    : worker_(worker), listeners_(std::move(listeners)), timer_(net), responder_(std::move(roots)) {
  timer_.start(std::chrono::seconds(1), [this] { every_second(); });
}

void TensorWatch::answer(TensorQuery query, DeferredResponse::Done done) {
  worker_.ask([this, query = std::move(query)](
                  RequestFiles& files) { return responder_.respond(files, query); },
              std::move(done));
}

void TensorWatch::every_second() {
  if (looking_ || !listeners_.wanted()) return;
  looking_ = true;
  const bool find = looked_++ % kFindEvery == 0;
  auto news = std::make_shared<TensorNews>();
  worker_.ask(
      [this, news, find](RequestFiles& files) {
        *news = responder_.news(files, find);
        return HttpResponse{};
      },
      [this, news](const HttpResponse&) {
        looking_ = false;
        if (!news->json.empty()) listeners_.publish(std::move(*news));
      });
}

}  // namespace trainwatch
