// The engine's prompts. Each comes from a layout, which is loaded once per run.
//
//   DOSSIER_ASSIGN_OR_RETURN(PromptBook book, PromptBook::Load({.profile = Profile::kSmall},
//   folders)); DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt,
//                            book.Assemble("turn", model, values, {}, boundary, reserve_output));
//
// Thread-safety: immutable after loading.

#ifndef DOSSIER_ASK_RUN_PROMPTS_H_
#define DOSSIER_ASK_RUN_PROMPTS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "assembly/assemble.h"
#include "base/result.h"
#include "driver/section_reader.h"

namespace dossier::ask {

// Settings that all prompts of one run share.
struct PromptStyle {
  Profile profile = Profile::kLarge;  // never kAuto
  int depth = 1;
  sandbox::Dialect dialect = sandbox::Dialect::kPython;
};

class PromptBook {
 public:
  static Result<PromptBook> Load(const PromptStyle& style, const assembly::AssetFolders& folders);
  // Reads the sections that the user's layouts add, once for all prompts of a run. Returns the
  // warnings. Errors: as driver::ReadUserSections.
  Result<std::vector<std::string>> ReadUserSections(const driver::SectionSources& sources);

  // Returns the whole prompt of a layout ("turn", "extract", "compact", "direct", "subcall",
  // "subcall_context", "map_batch", "map_one"), filled with the run's values by name.
  Result<assembly::Assembled> Assemble(std::string_view layout, const driver::BoundModel& model,
                                       const std::map<std::string, std::string>& values,
                                       std::vector<assembly::Section> sections,
                                       std::string_view boundary,
                                       std::int64_t reserve_output) const;
  // Returns a single template of this style ("reminder", "code_required", "final_refused", …).
  Result<std::string> Text(std::string_view name, const std::map<std::string, std::string>& values,
                           std::string_view boundary) const;
  // The sources of these prompts: {"layouts":{NAME:SHA-256},"templates":{FILE:SHA-256}}; after
  // ReadUserSections also "sections":{LAYOUT:{NAME:SHA-256}}, if there are any.
  const JsonObject& manifest() const { return manifest_; }

 private:
  std::map<std::string, assembly::Layout, std::less<>> layouts_;
  std::map<std::string, assembly::Template, std::less<>> templates_;
  std::map<std::string, driver::UserSections, std::less<>> user_sections_;  // by the layout's role
  std::vector<assembly::ToolSpec> tools_;  // of the turns, for models that call tools
  JsonObject manifest_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_PROMPTS_H_
