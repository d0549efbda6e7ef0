// SPDX-License-Identifier: Apache-2.0
// Every kept input of every target runs in the normal tests: what once broke an invariant stays
// mended. corpus/NAME/ holds one input per file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/fuzz_target.h"
#include "support/source_path.h"

namespace trainwatch::testing::corpus_test {

namespace fs = std::filesystem;

std::string corpus_folder() {
  return source_path("tests/fuzz/corpus");
}

class FuzzCorpus : public ::testing::TestWithParam<fuzz::FuzzTarget> {};

TEST_P(FuzzCorpus, KeptInputsHold) {
  GetParam().run({});
  const fs::path folder = fs::path(corpus_folder()) / GetParam().name;
  if (!fs::exists(folder)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    GetParam().run(std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, ::testing::ValuesIn(fuzz::fuzz_targets()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(FuzzCorpus, EveryFolderBelongsToATarget) {
  for (const fs::directory_entry& entry : fs::directory_iterator(corpus_folder())) {
    EXPECT_NE(fuzz::find_fuzz_target(entry.path().filename().string()), nullptr) << entry.path();
  }
}

}  // namespace trainwatch::testing::corpus_test
