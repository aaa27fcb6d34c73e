// The parts that all calls of a run share: layouts, models, prompt logs.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto parts, CallParts::Load(std::move(options)));
//   DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel* model, parts->Model("code"));
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_RESEARCH_CALL_CALL_PARTS_H_
#define DOSSIER_RESEARCH_CALL_CALL_PARTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "driver/caller.h"
#include "research/call/call_sites.h"
#include "research/call/caller.h"
#include "research/call/prompt_logs.h"
#include "research/call/reply_forms.h"

namespace dossier::research {

class CallParts {
 public:
  // Loads the layouts of all call sites. Errors: kConfig, kNotFound.
  static Result<std::unique_ptr<CallParts>> Load(CallerOptions options);

  const CallerOptions& options() const { return options_; }
  const ReplySchemas& schemas() const { return schemas_; }
  const assembly::Layout& LayoutOf(const CallSite& site) const;
  PromptLogs& logs() { return logs_; }
  ResearchLog& journal() const { return *options_.log; }
  driver::Caller& caller() { return caller_; }

  // Returns what the user's layout adds to a site, without secrets. Read once per site, at its
  // first call. Errors: as driver::ReadUserSections.
  Result<const driver::UserSections*> UserSectionsOf(const CallSite& site,
                                                     const driver::BoundModel& model);
  // Opens the model once per role; it lives as long as this object.
  Result<const driver::BoundModel*> Model(std::string_view role);
  // Returns the next counter for prompt logs of a node ("": the run): the journal's highest plus 1.
  std::int64_t NextCounter(std::string_view node);

 private:
  CallParts(CallerOptions options, ReplySchemas schemas);

  const CallerOptions options_;
  const ReplySchemas schemas_;
  std::map<std::string, assembly::Layout, std::less<>> layouts_;  // by site
  PromptLogs logs_;
  driver::Caller caller_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, std::unique_ptr<driver::BoundModel>, std::less<>> models_;
  std::map<std::string, driver::UserSections, std::less<>> user_sections_;  // by site
  std::map<std::string, std::int64_t, std::less<>> counters_;  // by node: the highest counter
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_PARTS_H_
