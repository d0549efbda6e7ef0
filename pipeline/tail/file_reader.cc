#include "pipeline/tail/file_reader.h"

namespace trainwatch {

void FileReader::read_chunk(TrackedFile& file, TailSink& sink) {
  if (!make_ready(file, sink)) return;
  const auto step = read_on(file, buffer_);
  if (!step) {
    fail(file, step.error(), sink);
    return;
  }
  file.error.clear();
  if (step->cut > 0) sink.cut_back(file.id, step->cut);
  if (step->restarted) {
    file.finished = false;
    sink.restarted(file.id, step->lost);
  }
  if (step->bytes.empty()) return;
  announce(file, sink);
  sink.data(file.id, step->bytes);
}

void FileReader::settle(TrackedFile& file, TailSink& sink) {
  if (!file.ending || !file.at_end()) return;
  if (file.announced && !file.finished) {
    file.finished = true;
    sink.finished(file.id);
  }
  if (file.missing_scans == 0 && file.linked) table_.close(file);
}

bool FileReader::make_ready(TrackedFile& file, TailSink& sink) {
  const auto open = table_.open(file);
  if (!open) {
    fail(file, open.error(), sink);
  } else if (!*open) {
    file.blocked = true;  // its path leads elsewhere: the next scan finds out where it went
  }
  return !file.blocked;
}

void FileReader::announce(TrackedFile& file, TailSink& sink) {
  if (file.announced) return;
  file.announced = true;
  sink.opened(file.id, file.lane, roots_[file.root], file.order.path);
}

void FileReader::fail(TrackedFile& file, const Error& error, TailSink& sink) {
  file.blocked = true;
  // A stale handle never recovers; the name, while there is one, leads to a fresh one.
  if (file.missing_scans == 0 && file.linked) table_.close(file);
  if (file.error == error.message) return;
  file.error = error.message;
  announce(file, sink);
  sink.read_error(file.id, file.error);
}

}  // namespace trainwatch
