#include "solver/observables/observable_table.hpp"

namespace staghorn {

ObservableEntry pion_correlator();
ObservableEntry mesons();
ObservableEntry baryons();
ObservableEntry chiral_condensate();

std::span<const ObservableEntry> observable_table() {
  static const ObservableEntry table[] = {pion_correlator(), mesons(), baryons(), chiral_condensate()};
  return table;
}

std::vector<ObservableKind> observable_kinds() {
  std::vector<ObservableKind> kinds;
  for (const ObservableEntry& entry : observable_table()) kinds.push_back(entry.kind);
  return kinds;
}

std::vector<Observable> nothing_observed() {
  std::vector<Observable> observables;
  for (const ObservableEntry& entry : observable_table()) observables.push_back({&entry.kind});
  return observables;
}

}  // namespace staghorn
