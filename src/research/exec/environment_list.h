// A list of variables, "NAME=value", in which a name stands once.
//
//   EnvironmentList list(spec.environment);
//   list.Set("HOME", "/workspace");
//   list.Default("PATH", "/usr/bin:/bin");        // if it has none
//   jail.environment = list.Take();
//
// Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_EXEC_ENVIRONMENT_LIST_H_
#define DOSSIER_RESEARCH_EXEC_ENVIRONMENT_LIST_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::research {

class EnvironmentList {
 public:
  EnvironmentList() = default;
  // Of equal names the last one holds. What has no `=` is left out.
  explicit EnvironmentList(std::span<const std::string> entries) { Add(entries); }

  void Add(std::span<const std::string> entries);
  void Set(std::string_view name, std::string_view value);
  void Default(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  std::optional<std::string_view> Find(std::string_view name) const;
  std::vector<std::string> Take() { return std::move(entries_); }

 private:
  std::vector<std::string>::iterator Place(std::string_view name);

  std::vector<std::string> entries_;
};

// "NAME" of "NAME=value".
std::string_view VariableName(std::string_view entry);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_ENVIRONMENT_LIST_H_
