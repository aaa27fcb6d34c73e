#include "evaluation/family.h"

#include "base/text/text.h"
#include "evaluation/families/families.h"

namespace dossier::evaluation {
namespace {

// For families that read the files again for each task.
class EachTime final : public Prover {
 public:
  EachTime(const Family& family, const TaskSet& set, const Relabel& relabel)
      : family_(family), set_(set), relabel_(relabel) {}
  Result<Json> Recompute(const Task& task) override {
    return family_.Recompute(task, set_, relabel_);
  }

 private:
  const Family& family_;
  const TaskSet& set_;
  const Relabel relabel_;
};

}  // namespace

Result<std::unique_ptr<Prover>> Family::Open(const Task&, const TaskSet& set,
                                             const Relabel& relabel) const {
  return std::make_unique<EachTime>(*this, set, relabel);
}

std::span<const Family* const> Families() {
  static const Family* const kFamilies[] = {
      &AggregateFamily(), &CodeFamily(),   &HopsFamily(),  &InjectFamily(), &LogsFamily(),
      &LongFamily(),      &NeedleFamily(), &PairsFamily(), &RulerFamily(),  &TablesFamily()};
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
