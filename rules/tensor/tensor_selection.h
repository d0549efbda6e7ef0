// SPDX-License-Identifier: Apache-2.0
// Which tensors a rule of SageMaker's judges: those of named collections, and those whose name a
// regular expression finds (re.search of Python, here by RE2, which has no look-around).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/interner.h"
#include "trainwatch/result.h"
#include "trainwatch/rule.h"
#include "trainwatch/tensor.h"

namespace re2 {
class RE2;
}

namespace trainwatch {

// What is wrong with a parameter of comma-separated regular expressions, or of collections.
Status check_regexes(std::string_view comma_separated);
Status check_collections(std::string_view comma_separated);

// The two parameters of rules that judge chosen tensors.
template <class Params>
Param collections_field(std::string Params::*member) {
  return text_field("collection_names", member,
                    "Collections whose tensors are judged, comma separated.", check_collections);
}
template <class Params>
Param names_field(std::string Params::*member) {
  return text_field("tensor_regex", member,
                    "And tensors whose names these regular expressions find, comma separated.",
                    check_regexes);
}

// Reductions are tensors of their own, named "smdebug/reductions/abs_mean/TENSOR". Returns TENSOR;
// empty for any other name.
std::string_view reduced_tensor(std::string_view name, std::string_view reduction);

class TensorSelection {
 public:
  // Both comma separated, valid, and joined; if both are empty nothing is selected.
  TensorSelection(std::string_view collections, std::string_view regexes);
  ~TensorSelection();

  bool empty() const { return collections_.empty() && regexes_.empty(); }
  // A tensor is in a collection if the trial says so, or, if the trial has it in none, if its name
  // is what SageMaker's hooks call such tensors. Saved reductions are never selected.
  bool has(const Tensor& tensor, const Interner& interner) const;
  bool has_name(std::string_view name) const;  // by expression or by its usual name

 private:
  std::vector<std::string> collections_;
  std::vector<std::unique_ptr<re2::RE2>> regexes_;
};

}  // namespace trainwatch
