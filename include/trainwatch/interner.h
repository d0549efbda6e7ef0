// The three tables that give the small ids in events their meaning. One per engine.
#pragma once

#include "trainwatch/series.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

struct Interner {
  SymbolTable symbols;
  SubjectTable subjects;
  SeriesTable series;

  std::string_view text(Symbol symbol) const { return symbols.text(symbol); }

  void state(StateIo& io) {
    io(symbols);
    io(subjects);
    io(series);
  }
};

}  // namespace trainwatch
