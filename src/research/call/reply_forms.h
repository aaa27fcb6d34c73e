// Checks that a payload is the reply a call site asks for, and returns its value.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ReplySchemas schemas, ReplySchemas::Load());
//   DOSSIER_ASSIGN_OR_RETURN(const Payload payload, schemas.Read(site, text));
//   Use(payload.text);     // of JSON: the object, compact
//
// Read fails with kInvalidArgument and a sentence for the model. Thread-safety: immutable.

#ifndef DOSSIER_RESEARCH_CALL_REPLY_FORMS_H_
#define DOSSIER_RESEARCH_CALL_REPLY_FORMS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/schema/json_schema.h"
#include "research/call/call_sites.h"

namespace dossier::research {

struct Payload {
  std::string text;
  std::vector<std::string> warnings;
};

class ReplySchemas {
 public:
  // Loads data/research_replies.yaml. Errors: kConfig.
  static Result<ReplySchemas> Load();

  // Returns null if the site has no schema.
  const model::JsonSchema* Of(const CallSite& site) const;
  Result<Payload> Read(const CallSite& site, std::string_view payload) const;

 private:
  Result<Payload> ReadObject(const CallSite& site, std::string_view payload) const;

  std::map<std::string, model::JsonSchema, std::less<>> schemas_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_REPLY_FORMS_H_
