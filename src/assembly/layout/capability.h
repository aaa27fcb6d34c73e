// The capabilities of a model and the caching of its provider: data from data/models.yaml.
//
//   Capability model{.window = 200'000, .max_output = 64'000};
//   model.cache = {.mode = CacheRules::Mode::kExplicit, .min_prefix = 1024, .breakpoints = 4};
//
// The defaults are the strict form that every model takes: user first, alternating roles, no
// caching. Thread-safety: plain data.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_
#define DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::assembly {

// The rules by which a provider caches the prefix of a prompt.
struct CacheRules {
  // kExplicit: up to breakpoints that the request names; kAutomatic: any repeated prefix.
  enum class Mode { kNone, kExplicit, kAutomatic } mode = Mode::kNone;
  std::int64_t min_prefix = 0;   // tokens; a shorter prefix is not cached
  int breakpoints = 0;           // for kExplicit: the most in a request
  std::int64_t step = 1;         // tokens; cache reads are a multiple of it
  int look_back = 20;            // blocks before a breakpoint that are searched for an older prefix
  std::vector<std::string> ttl;  // lifetimes the provider offers, shortest first: "5m", "1h"
  std::vector<double> write;     // price of writing, times the input price; in the order of `ttl`
  double read = 1;               // price of reading, times the input price
  std::string status;            // documented, measured, reported, unverified
};

struct Capability {
  std::int64_t window = 32768;            // tokens
  std::int64_t max_output = 4096;         // tokens
  std::optional<std::int64_t> max_input;  // tokens, if the provider limits input separately
  std::string profile = "large";          // "small" or "large"
  std::string system_role = "message";    // field, message, developer, none
  bool assistant_first = false;           // a request may start with an assistant message
  bool merge_same_role = true;            // adjacent messages of one role must be merged
  bool prefill = false;                   // a request may end with an assistant message
  bool prefill_flag = false;              // … if that message is marked as a prefill
  bool user_after_tool = true;            // a user message may follow a tool result
  // Places of late system messages: none, as text right after a user message, or anywhere.
  enum class LateSystem { kNo, kAfterUser, kYes } late_system = LateSystem::kNo;
  // The place of tool results: a message of their own, or the next user message.
  enum class ToolResults { kToolTurn, kUserTurn } tool_results = ToolResults::kToolTurn;
  std::optional<std::int64_t> image_tokens;  // of one image; unset: images are refused
  std::int64_t tokens_per_message = 4, tokens_per_request = 3;  // framing
  CacheRules cache;
  Json entry;  // {as_of, source, …} of the model entry, for the report
};

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_
