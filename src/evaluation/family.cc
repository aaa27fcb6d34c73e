#include "evaluation/family.h"

#include "base/text/text.h"
#include "evaluation/families/families.h"

namespace dossier::evaluation {

std::span<const Family* const> Families() {
  static const Family* const kFamilies[] = {&AggregateFamily(), &PairsFamily()};
  return kFamilies;
}

Result<const Family*> FindFamily(std::string_view name) {
  std::vector<std::string> names;
  for (const Family* family : Families()) {
    if (family->name() == name) return family;
    names.emplace_back(family->name());
  }
  const std::vector<std::string> nearest = NearestNames(name, names);
  return MakeError(ErrorCode::kConfig, "there is no family {}; {}", name,
                   nearest.empty() ? "`dossier eval families` lists all"
                                   : "did you mean " + Join(nearest, ", ") + "?");
}

}  // namespace dossier::evaluation
