// What the families over windows of lines share: which windows a spec asks for, and proofs by SQL
// over the labelled file.
//
//   DOSSIER_ASSIGN_OR_RETURN(LineTable table, LineTable::Read(labelled, {}));
//   DOSSIER_ASSIGN_OR_RETURN(Statement query, table.db.Prepare("SELECT count(*) FROM lines"));
//
// Thread-safety: none; one owner.

#ifndef DOSSIER_EVALUATION_FAMILIES_LINES_H_
#define DOSSIER_EVALUATION_FAMILIES_LINES_H_

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "evaluation/family.h"
#include "evaluation/tasks/pool.h"
#include "evaluation/tasks/window.h"
#include "store/sqlite.h"

namespace dossier::evaluation {

// The labelled twin as a table: lines(day TEXT, user INTEGER, label TEXT), with days as
// 2024-06-06; and labels(label TEXT).
struct LineTable {
  store::Database db;

  // Errors: kDamaged for a line that is none.
  static Result<LineTable> Read(std::string_view labelled, const Relabel& relabel);
};

using WindowVisitor =
    std::function<Status(const Window& window, const std::string& name, ContextFile file)>;

// Makes and writes every window that the spec asks for: "aggregate-16K-w3".
Status ForEachWindow(std::string_view family, const FamilySpec& spec, const TextPool& pool,
                     TaskSink& sink, const WindowVisitor& visit);

// The questions of aggregate over one window; `turn` says whose turn it is in each group of kinds.
Status AddAggregateTasks(const FamilySpec& spec, const Window& window, const std::string& id,
                         const ContextFile& file, std::array<std::size_t, 3>* turn, TaskSink& sink);

// A setting, or what stands for it.
std::string Setting(const FamilySpec& spec, std::string_view name, std::string_view fallback);
// A setting that is a whole number from `low` to `high`. Errors: kConfig.
Result<std::int64_t> NumberSetting(const FamilySpec& spec, std::string_view name,
                                   std::int64_t fallback, std::int64_t low, std::int64_t high);

// A list of one text: the gold of most questions.
Json OneGold(std::string_view text);

// The parameters that all families over lines take.
inline constexpr Parameter kLineParameters[] = {
    {"map", "text:text,label:label", "the fields of --items"},
    {"drop_leaky", "on", "drop texts with a word of a label: on, off"},
    {"noun", "short notes", "what the lines hold"}};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILIES_LINES_H_
