// SPDX-License-Identifier: Apache-2.0
// The collections of a trial (SageMaker Debugger): named sets of tensors, from the file
// `collections/000000000/WORKER_collections.json`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/result.h"

namespace re2 {
class RE2;
}

namespace trainwatch {

class TensorCollections {
 public:
  static constexpr std::size_t kMaxFile = std::size_t{4} << 20U;
  static constexpr std::size_t kMaxCollections = 256;
  // Bytes of all patterns together, once they are compiled.
  static constexpr std::size_t kMaxPatterns = std::size_t{16} << 20U;

  TensorCollections();
  ~TensorCollections();
  TensorCollections(TensorCollections&&) noexcept;
  TensorCollections& operator=(TensorCollections&&) noexcept;

  // Python has patterns that RE2 does not know, and others have no room: they match nothing.
  struct Refused {
    std::string collection;
    std::string pattern;
    std::string why;
  };

  // Fails if it is no such file. Collections above kMaxCollections are left out.
  static Result<TensorCollections> parse(std::string_view json);

  // About how much memory they take.
  std::size_t bytes() const { return bytes_; }
  std::int64_t num_workers() const { return num_workers_; }  // 0: it does not say
  const std::vector<Refused>& refused() const { return refused_; }
  // Calls `use` with the name of each collection.
  template <class Use>
  void for_each(Use&& use) const {
    for (const Collection& collection : all_) use(std::string_view{collection.name});
  }
  // Calls `use` with the name of each collection that the tensor is in, in the order of the file.
  template <class Use>
  void for_each_of(std::string_view tensor, Use&& use) const {
    for (const Collection& collection : all_) {
      if (collection.has(tensor)) use(std::string_view{collection.name});
    }
  }

 private:
  struct Collection {
    std::string name;
    std::set<std::string, std::less<>> tensors;
    std::vector<std::unique_ptr<re2::RE2>> patterns;

    Collection();
    ~Collection();
    Collection(Collection&&) noexcept;
    Collection& operator=(Collection&&) noexcept;
    bool has(std::string_view tensor) const;
  };

  void add_pattern(Collection& collection, std::string_view text);

  std::vector<Collection> all_;
  std::size_t bytes_ = 0;
  std::size_t pattern_bytes_ = 0;
  std::int64_t num_workers_ = 0;
  std::vector<Refused> refused_;
};

}  // namespace trainwatch
