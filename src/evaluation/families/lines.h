// Shared by the families over windows of lines: the windows that a spec asks for, and proofs by SQL
// over the labelled file.
//
//   DOSSIER_ASSIGN_OR_RETURN(LineTable table, LineTable::Read(labelled, {}));
//   DOSSIER_ASSIGN_OR_RETURN(Statement query, table.db.Prepare("SELECT count(*) FROM lines"));
//
// Thread-safety: one owner.

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

// The labelled twin as tables: lines(day TEXT, user INTEGER, label TEXT), with days as 2024-06-06;
// and labels(label TEXT).
struct LineTable {
  store::Database db;

  // Errors: kDamaged for a malformed line.
  static Result<LineTable> Read(std::string_view labelled, const Relabel& relabel);
};

using WindowVisitor =
    std::function<Status(const Window& window, const std::string& name, ContextFile file)>;

// Makes and writes every window of the spec, named like "aggregate-16K-w3".
Status ForEachWindow(std::string_view family, const FamilySpec& spec, const TextPool& pool,
                     TaskSink& sink, const WindowVisitor& visit);

// Adds the questions of aggregate for one window; `turn` holds the next kind of each group.
Status AddAggregateTasks(const FamilySpec& spec, const Window& window, const std::string& id,
                         const ContextFile& file, std::array<std::size_t, 3>* turn, TaskSink& sink);

// Returns a setting, or its default.
std::string Setting(const FamilySpec& spec, std::string_view name, std::string_view fallback);
// Returns a setting that is a whole number from `low` to `high`. Errors: kConfig.
Result<std::int64_t> NumberSetting(const FamilySpec& spec, std::string_view name,
                                   std::int64_t fallback, std::int64_t low, std::int64_t high);

// Returns a list of one text: the gold of most questions.
Json OneGold(std::string_view text);

// The parameters of all families over lines.
inline constexpr Parameter kLineParameters[] = {
    {"map", "text:text,label:label", "the fields of --items"},
    {"drop_leaky", "on", "drop texts with a word of a label: on, off"},
    {"noun", "short notes", "what the lines hold"}};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILIES_LINES_H_
