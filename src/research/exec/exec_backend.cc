#include "research/exec/exec_backend.h"

#include <fmt/format.h>

#include <algorithm>

namespace dossier::research {

std::string_view PhaseName(Phase phase) {
  constexpr std::string_view kNames[kPhases] = {"phase0", "phase1", "phase2", "phase3", "phase4"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string_view VariableName(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<std::string>::iterator EnvironmentList::Place(std::string_view name) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const std::string& entry) { return VariableName(entry) == name; });
}

void EnvironmentList::Add(std::span<const std::string> entries) {
  for (const std::string& entry : entries) {
    const std::string_view name = VariableName(entry);
    if (name.empty() || name.size() == entry.size()) continue;
    Set(name, std::string_view(entry).substr(name.size() + 1));
  }
}

void EnvironmentList::Set(std::string_view name, std::string_view value) {
  std::string entry = fmt::format("{}={}", name, value);
  if (const auto place = Place(name); place != entries_.end()) {
    *place = std::move(entry);
  } else {
    entries_.push_back(std::move(entry));
  }
}

void EnvironmentList::Default(std::string_view name, std::string_view value) {
  if (Place(name) == entries_.end()) Set(name, value);
}

void EnvironmentList::Remove(std::string_view name) {
  if (const auto place = Place(name); place != entries_.end()) entries_.erase(place);
}

std::optional<std::string_view> EnvironmentList::Find(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (VariableName(entry) == name) return std::string_view(entry).substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace dossier::research
