// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_filter.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace trainwatch {

Result<TensorFilter> TensorFilter::made(std::optional<std::string> collection,
                                        const std::optional<std::string>& regex) {
  TensorFilter filter;
  filter.collection_ = std::move(collection);
  if (!regex) return filter;
  filter.pattern_ = std::make_shared<const RE2>(*regex, RE2::Quiet);
  if (!filter.pattern_->ok()) return Error{filter.pattern_->error()};
  return filter;
}

bool TensorFilter::wants_collection(const std::string& name) const {
  return !collection_ || name == *collection_;
}

bool TensorFilter::wants(const std::string& tensor,
                         const std::map<std::string, std::vector<std::string>>& collections) const {
  if (collection_) {
    const auto found = collections.find(*collection_);
    if (found == collections.end() || !std::ranges::binary_search(found->second, tensor))
      return false;
  }
  return pattern_ == nullptr || RE2::PartialMatch(tensor, *pattern_);
}

}  // namespace trainwatch
