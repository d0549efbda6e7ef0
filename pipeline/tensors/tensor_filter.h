// SPDX-License-Identifier: Apache-2.0
// Which tensors of a trial are asked for: those of a collection, those in whose name a pattern is
// found.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipeline/tensors/trial.h"
#include "trainwatch/result.h"

namespace re2 {
class RE2;
}

namespace trainwatch {

class TensorFilter {
 public:
  // The default wants all. Fails if `regex` is no pattern of RE2's.
  static Result<TensorFilter> made(std::optional<std::string> collection,
                                   const std::optional<std::string>& regex);

  bool wants_collection(const std::string& name) const;
  // `collections` is Trial::collections().
  bool wants(const std::string& tensor,
             const std::map<std::string, std::vector<std::string>>& collections) const;

 private:
  std::optional<std::string> collection_;
  std::shared_ptr<const re2::RE2> pattern_;  // null: any name
};

}  // namespace trainwatch
