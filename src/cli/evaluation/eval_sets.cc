// eval families, generate, check, score-one: the commands over task sets.

#include <ostream>

#include "base/json/json.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/tree/command.h"
#include "evaluation/family.h"

namespace dossier::cli {
namespace {

struct FamiliesArguments {
  bool json = false;
};

void DeclareFamilies(Flags& flags, FamiliesArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

Result<int> RunFamilies(const FamiliesArguments& given, Context& context) {
  JsonArray rows;
  for (const evaluation::Family* family : evaluation::Families()) {
    JsonArray parameters;
    if (!given.json) context.out << family->name() << "  " << family->about() << "\n";
    for (const evaluation::Parameter& one : family->parameters()) {
      parameters.push_back(
          JsonObject{{"name", one.name}, {"default", one.fallback}, {"about", one.about}});
      if (given.json) continue;
      context.out << "    " << one.name << "=" << one.fallback << "  " << one.about << "\n";
    }
    rows.push_back(JsonObject{{"name", family->name()},
                              {"about", family->about()},
                              {"parameters", std::move(parameters)}});
  }
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.families/1"}, {"families", rows}}) << "\n";
  }
  return 0;
}

}  // namespace

Command EvalFamiliesCommand() {
  return {.name = "families",
          .summary = "the kinds of task, and what can be set of each",
          .examples = "",
          .binding = Bind(DeclareFamilies, RunFamilies)};
}

}  // namespace dossier::cli
