// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/metric_series.h"

#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_kind.h"
#include "pipeline/decode/gpu_name.h"

namespace trainwatch {

std::optional<SeriesOfSample> intern_series(const FileContext& context, const KnownSeries& known) {
  Subject about{context.job, std::string{known.node}, kNoRank, std::string{known.gpu}};
  if (about.node.empty()) about.node = context.default_node;
  const auto subject = context.interner.subjects.intern(about);
  if (!subject) return std::nullopt;
  const bool numbered = parse_digits(known.gpu).has_value();
  const std::string name = known.gpu.empty() ? std::string{known.dimension}
                           : numbered        ? std::string{known.type}.append(known.gpu)
                                             : std::string{known.gpu};
  SymbolTable& symbols = context.interner.symbols;
  Series series;
  series.subject = *subject;
  series.resource = resource_of(known.type, name, known.dimension);
  series.device = number_of_gpu(known.gpu);
  series.type = symbols.intern(known.type);
  series.name = symbols.intern(name);
  series.dimension = symbols.intern(known.dimension);
  const auto id = context.interner.series.intern(series);
  if (!id) return std::nullopt;
  return SeriesOfSample{*id, series.resource};
}

Rejection MetricSeries::read(const Tokens& tokens, Series& series) {
  std::array<Symbol, 4> symbols{};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == 1 && (tokens[i].empty() || tokens[i] == "null")) continue;
    if (!is_string_token(tokens[i])) return RejectReason::type;
    const auto text = strings_.read(tokens[i]);
    if (!text) return unreadable(tokens[i]);
    symbols[i] = context_.interner.symbols.intern(*text);
  }
  series.type = symbols[0];
  series.name = symbols[1];
  series.dimension = symbols[2];
  const SymbolTable& names = context_.interner.symbols;
  const bool is_gpu = names.text(series.type) == "gpu";
  const auto subject = subject_of(symbols[3], is_gpu ? series.name : Symbol::none);
  if (!subject) return RejectReason::cardinality;
  series.subject = *subject;
  series.device = device_number(names.text(series.name));
  series.resource =
      resource_of(names.text(series.type), names.text(series.name), names.text(series.dimension));
  return std::nullopt;
}

std::optional<SubjectId> MetricSeries::subject_of(Symbol node, Symbol gpu) {
  const auto known = subjects_.find({node, gpu});
  if (known != subjects_.end()) return known->second;
  const std::string_view device = context_.interner.text(gpu);
  const std::string_view digits = trailing_digits(device);
  Subject subject{context_.job, std::string{context_.interner.text(node)}, kNoRank,
                  std::string{digits.empty() ? device : digits}};
  if (subject.node.empty()) subject.node = context_.default_node;
  const auto id = context_.interner.subjects.intern(subject);
  if (id) subjects_.emplace(std::pair{node, gpu}, *id);
  return id;
}

}  // namespace trainwatch
