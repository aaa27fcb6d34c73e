// The order of messages that a provider refuses (assembly.md 4.8), checked on the body of a request
// as received: for servers that stand in for a provider (`models serve-script`, tests).
//
//   EXPECT_EQ(RefusalOf(kAnthropicRoles, *ParseJson(http.body)), "");
//
// It knows nothing of the code that makes requests, because it is the other side.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_DIALECTS_ROLE_RULES_H_
#define DOSSIER_MODEL_DIALECTS_ROLE_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace dossier::model {

struct RoleRules {
  enum class Form { kOpenAi, kAnthropic, kGemini } form = Form::kOpenAi;
  bool assistant_first = true;     // a conversation may start with the assistant
  bool same_role = true;           // adjacent messages may have the same role
  bool late_system = true;         // a system message may come after the first place
  bool assistant_last = true;      // a conversation may end with the assistant
  bool last_needs_prefix = false;  // … if that message has "prefix": true
  bool user_after_tool = true;     // a user message may follow a tool result
};

inline constexpr RoleRules kOpenAiRoles{};
inline constexpr RoleRules kAnthropicRoles{.form = RoleRules::Form::kAnthropic,
                                           .assistant_first = false,
                                           .late_system = false,
                                           .assistant_last = false};
inline constexpr RoleRules kAnthropicPrefillRoles{
    .form = RoleRules::Form::kAnthropic, .assistant_first = false, .late_system = false};
inline constexpr RoleRules kGeminiRoles{.form = RoleRules::Form::kGemini,
                                        .assistant_first = false,
                                        .late_system = false,
                                        .assistant_last = false};
inline constexpr RoleRules kMistralRoles{.assistant_first = false,
                                         .same_role = false,
                                         .late_system = false,
                                         .last_needs_prefix = true,
                                         .user_after_tool = false};
// For the templates of Gemma and Llama 2, and servers that use them; also for Perplexity.
inline constexpr RoleRules kAlternatingRoles{.assistant_first = false,
                                             .same_role = false,
                                             .late_system = false,
                                             .assistant_last = false,
                                             .user_after_tool = false};

// Finds rules by name: "openai", "anthropic", "anthropic-prefill", "gemini", "mistral",
// "alternating"; nullptr for any other.
const RoleRules* FindRoleRules(std::string_view name);
std::vector<std::string> RoleRulesNames();

// Returns why `body` is refused: "messages[3]: user after tool". Empty: it is accepted.
std::string RefusalOf(const RoleRules& rules, const Json& body);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_ROLE_RULES_H_
