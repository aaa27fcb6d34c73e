// What a model accepts and what its provider caches: facts of data/models.yaml.
//
//   Capability model{.window = 200'000, .max_output = 64'000};
//   model.cache = {.mode = CacheRules::Mode::kExplicit, .min_prefix = 1024, .breakpoints = 4};
//
// The defaults are the strict form that every model takes: user first, roles in turn, no caching.
// Thread-safety: plain data.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_
#define DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::assembly {

// How a provider caches the prefix of a prompt.
struct CacheRules {
  // kExplicit: up to breakpoints that a request names; kAutomatic: whatever prefix repeats.
  enum class Mode { kNone, kExplicit, kAutomatic } mode = Mode::kNone;
  std::int64_t min_prefix = 0;   // tokens; a shorter prefix is not cached
  int breakpoints = 0;           // of kExplicit: at most so many in a request
  std::int64_t step = 1;         // tokens; what is read from the cache is a multiple of it
  int look_back = 20;            // blocks before a breakpoint in which an older prefix is found
  std::vector<std::string> ttl;  // lifetimes the provider offers, shortest first: "5m", "1h"
  std::vector<double> write;     // price of writing, times the input price; as `ttl`
  double read = 1;               // price of reading, times the input price
  std::string status;            // documented, measured, reported, unverified
};

struct Capability {
  std::int64_t window = 32768;            // tokens
  std::int64_t max_output = 4096;         // tokens
  std::optional<std::int64_t> max_input;  // tokens, where the provider bounds them apart
  std::string profile = "large";          // "small" or "large"
  std::string system_role = "message";    // field, message, developer, none
  bool assistant_first = false;           // a request may start with an assistant message
  bool merge_same_role = true;            // neighbours of one role must be merged
  bool prefill = false;                   // a request may end with an assistant message
  bool prefill_flag = false;              // … if that message says that it is one
  bool user_after_tool = true;            // a user message may follow a tool result
  // System messages behind the first place: never, as text right behind a user message, anywhere.
  enum class LateSystem { kNo, kAfterUser, kYes } late_system = LateSystem::kNo;
  // Who brings the results of tool calls: a message of their own, or the next user message.
  enum class ToolResults { kToolTurn, kUserTurn } tool_results = ToolResults::kToolTurn;
  std::optional<std::int64_t> image_tokens;  // of one image; unset: images are refused
  std::int64_t tokens_per_message = 4, tokens_per_request = 3;  // framing
  CacheRules cache;
  Json entry;  // {as_of, source, …} of the model entry, for the report
};

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_CAPABILITY_H_
