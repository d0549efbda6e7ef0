#include "pipeline/engine/ingest.h"

#include <cassert>
#include <utility>

#include "pipeline/engine/event_text.h"

namespace trainwatch {
namespace {

std::string printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, 256)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace

Ingest::Ingest(Engine& engine, IngestOptions options)
    : engine_(engine), options_(std::move(options)), gate_(engine.vocabulary(), options_.time) {}

Ingest::~Ingest() = default;

std::unique_ptr<FileDecoder> Ingest::make_decoder(FileId id, const File& file) {
  const RootOptions& root = options_.roots[file.source];
  return std::make_unique<FileDecoder>(FileContext{id, file.lane, file.path, root.job, root.rank,
                                                   engine_.vocabulary(), *this,
                                                   options_.list_directory});
}

void Ingest::opened(FileId id, LaneId lane, const WatchRoot& root, const std::string& path) {
  File& file = files_[id];
  file.path = path;
  file.source = root.source;
  file.lane = lane;
  file.decoder = make_decoder(id, file);
  ++sources_[root.source].generations;
}

void Ingest::data(FileId id, std::string_view bytes) {
  const auto entry = files_.find(id);
  assert(entry != files_.end());
  File& file = entry->second;
  file.error.clear();
  file.bytes += bytes.size();
  sources_[file.source].bytes += bytes.size();
  // A file that grew after it seemed finished goes on with a fresh decoder: a line is a line.
  if (file.decoder == nullptr) file.decoder = make_decoder(id, file);
  file.decoder->feed(bytes, batch_);
  if (file.decoder->complete()) file.decoder->finish(batch_);
  deliver(id, file);
}

void Ingest::deliver(FileId id, File& file) {
  file.format = file.decoder->format();
  const std::uint64_t read = file.decoder->records() - file.decoder_records;
  file.decoder_records += read;
  file.records += read;
  sources_[file.source].records += read;
  if (batch_.empty()) return;
  gate_.filter(file.lane, batch_, refused_);
  evaluate(id);
}

void Ingest::evaluate(FileId id) {
  for (const Refused& refused : refused_) {
    reject(id, refused.reason, event_text(refused.event, engine_.vocabulary()));
  }
  refused_.clear();
  if (!batch_.empty()) engine_.push(batch_);
  batch_.clear();
}

void Ingest::renamed(FileId id, const std::string& path) {
  File& file = files_[id];
  file.path = path;
  if (file.decoder != nullptr) file.decoder->renamed(path);
}

void Ingest::cut_back(FileId id, std::uint64_t bytes) {
  File& file = files_[id];
  if (file.decoder != nullptr) file.decoder->cut_back(bytes);
}

void Ingest::restarted(FileId id, std::uint64_t lost) {
  File& file = files_[id];
  finish(id, file);
  gate_.again(file.lane);
  Source& source = sources_[file.source];
  ++source.generations;
  ++source.truncations;
  source.bytes_lost += lost;
  file.records = 0;
  file.decoder = make_decoder(id, file);
}

void Ingest::finished(FileId id) {
  finish(id, files_[id]);
}

void Ingest::finish(FileId id, File& file) {
  if (file.decoder == nullptr) return;
  file.decoder->finish(batch_);
  deliver(id, file);
  gate_.end_of_file(file.lane, batch_, refused_);
  evaluate(id);
  file.decoder.reset();  // its buffers are worth more than a quick way back
  file.decoder_records = 0;
}

void Ingest::read_error(FileId id, const std::string& what) {
  File& file = files_[id];
  file.error = what;
  ++sources_[file.source].read_errors;
}

void Ingest::end_of_input() {
  for (auto& [id, file] : files_) finish(id, file);
  for (const auto& [id, file] : files_) {
    gate_.end_of_input(file.lane, batch_, refused_);
    evaluate(id);
  }
  engine_.flush();
}

void Ingest::reject(FileId id, RejectReason reason, std::string_view sample) {
  File& file = files_[id];
  ++file.rejects;
  ++sources_[file.source].rejects[static_cast<std::size_t>(reason)];
  if (rejected_.size() == kRejectsKept) rejected_.pop_front();
  rejected_.push_back({file.path, reason, printable(sample)});
}

}  // namespace trainwatch
