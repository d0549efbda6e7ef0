// SPDX-License-Identifier: Apache-2.0
// Names: a symbol gives back its name, the same name the same symbol, and a saved table is the
// table.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch::fuzz {

void intern_names(std::string_view input) {
  SymbolTable table;
  std::vector<std::pair<std::string, Symbol>> known;
  while (!input.empty()) {
    const std::string_view name = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), name.size() + 1));
    known.emplace_back(name, table.intern(name));
  }
  StateIo saving = StateIo::saving();
  table.state(saving);
  const std::string saved = saving.take();
  SymbolTable loaded;
  StateIo loading = StateIo::loading(saved);
  loaded.state(loading);
  expect(loading.complete(), "a saved table loads");
  for (const auto& [name, symbol] : known) {
    expect(table.text(symbol) == valid_name(name, SymbolTable::kLongestName),
           "a symbol gives back its name, made valid");
    expect(loaded.intern(name) == symbol, "a loaded table knows the name");
  }
}

}  // namespace trainwatch::fuzz
