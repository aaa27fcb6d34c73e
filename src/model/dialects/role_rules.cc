#include "model/dialects/role_rules.h"

namespace dossier::model {
namespace {

using Form = RoleRules::Form;

// One message, whatever its form.
struct Message {
  std::string role;  // system, user, assistant, tool
  bool empty = true, prefix = false;
  std::vector<std::string> calls, results;  // ids; of Gemini the names, as it pairs by place
  bool result_after_text = false;
};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

const JsonArray& ListOf(const Json& json, std::string_view name) {
  static const JsonArray none;
  const Json* list = Find(json, name);
  return list && list->is_array() ? list->as_array() : none;
}

Message ReadOpenAi(const Json& json) {
  Message message{.role = TextAt(json, "role")};
  if (message.role == "developer") message.role = "system";
  message.empty = TextAt(json, "content").empty() && ListOf(json, "content").empty();
  message.prefix = FindBool(json, "prefix") == true;
  for (const Json& call : ListOf(json, "tool_calls")) message.calls.push_back(TextAt(call, "id"));
  if (message.role == "tool") message.results.push_back(TextAt(json, "tool_call_id"));
  return message;
}

Message ReadAnthropic(const Json& json) {
  Message message{.role = TextAt(json, "role")};
  message.empty = IsBlank(TextAt(json, "content"));  // the short form of one text block
  for (const Json& block : ListOf(json, "content")) {
    const std::string type = TextAt(block, "type");
    if (type == "tool_use") message.calls.push_back(TextAt(block, "id"));
    if (type == "tool_result") {
      message.result_after_text |= !message.empty && message.results.empty();
      message.results.push_back(TextAt(block, "tool_use_id"));
    }
    if (type == "text" && IsBlank(TextAt(block, "text"))) {
      message.empty = true;
      return message;
    }
    message.empty = false;
  }
  return message;
}

Message ReadGemini(const Json& json) {
  Message message{.role = TextAt(json, "role") == "model" ? "assistant" : TextAt(json, "role")};
  for (const Json& part : ListOf(json, "parts")) {
    message.empty = false;
    if (const Json* call = Find(part, "functionCall"))
      message.calls.push_back(TextAt(*call, "name"));
    if (const Json* result = Find(part, "functionResponse")) {
      message.result_after_text |= Find(ListOf(json, "parts").front(), "text") != nullptr;
      message.results.push_back(TextAt(*result, "name"));
    }
  }
  return message;
}

std::vector<Message> ReadMessages(const RoleRules& rules, const Json& body) {
  std::vector<Message> messages;
  for (const Json& json : ListOf(body, rules.form == Form::kGemini ? "contents" : "messages")) {
    messages.push_back(rules.form == Form::kOpenAi      ? ReadOpenAi(json)
                       : rules.form == Form::kAnthropic ? ReadAnthropic(json)
                                                        : ReadGemini(json));
  }
  return messages;
}

class Checker {
 public:
  Checker(const RoleRules& rules, std::vector<Message> messages)
      : rules_(rules), messages_(std::move(messages)) {}

  std::string Run() {
    // Elsewhere system text has a field of its own.
    const bool system_role = rules_.form == Form::kOpenAi;
    std::size_t first = 0;
    if (!system_role && !messages_.empty() && messages_[0].role == "system") {
      return "messages[0]: the unknown role \"system\"";
    }
    while (first < messages_.size() && messages_[first].role == "system") ++first;
    if (first == messages_.size()) return "nothing but system text";
    if (first > 1 && !rules_.late_system) return "two system messages";
    if (messages_[first].role != "user" && !rules_.assistant_first) return "the user is not first";
    for (std::size_t i = first; i < messages_.size(); ++i) {
      const std::string why = CheckAt(i, i > first ? &messages_[i - 1] : nullptr);
      if (!why.empty()) return "messages[" + std::to_string(i) + "]: " + why;
    }
    if (!open_.empty()) return "calls without results at the end";
    const Message& last = messages_.back();
    if (last.role == "assistant" && !rules_.assistant_last) return "the assistant is last";
    if (last.role == "assistant" && rules_.last_needs_prefix && !last.prefix) return "no prefix";
    return {};
  }

 private:
  std::string CheckAt(std::size_t index, const Message* before) {
    const Message& message = messages_[index];
    if (message.empty && message.calls.empty() && message.results.empty()) return "empty";
    if (!IsRole(message.role)) return "the unknown role \"" + message.role + "\"";
    if (message.role == "system" && !rules_.late_system) return "late system";
    if (message.result_after_text) return "a result behind a text";
    if (const std::string why = CheckResults(message); !why.empty()) return why;
    if (before && before->role == message.role && message.role != "tool" && !rules_.same_role) {
      return "two of role " + message.role;
    }
    if (before && before->role == "tool" && message.role == "user" && !rules_.user_after_tool) {
      return "user after tool";
    }
    open_.insert(open_.end(), message.calls.begin(), message.calls.end());
    return {};
  }

  static bool IsRole(std::string_view role) {
    return role == "system" || role == "user" || role == "assistant" || role == "tool";
  }

  // Results come right behind their calls, all of them, in their order.
  std::string CheckResults(const Message& message) {
    if (message.results.empty()) return open_.empty() ? "" : "calls without results before it";
    for (const std::string& result : message.results) {
      if (open_.empty() || open_.front() != result) return "a result without its call: " + result;
      open_.erase(open_.begin());
    }
    const bool whole = rules_.form != Form::kOpenAi;  // one message has all of them
    return whole && !open_.empty() ? "fewer results than calls" : "";
  }

  const RoleRules& rules_;
  const std::vector<Message> messages_;
  std::vector<std::string> open_;  // calls that wait for results
};

struct NamedRules {
  std::string_view name;
  const RoleRules& rules;
};
constexpr NamedRules kNamed[] = {{"openai", kOpenAiRoles},
                                 {"anthropic", kAnthropicRoles},
                                 {"anthropic-prefill", kAnthropicPrefillRoles},
                                 {"gemini", kGeminiRoles},
                                 {"mistral", kMistralRoles},
                                 {"alternating", kAlternatingRoles}};

}  // namespace

const RoleRules* FindRoleRules(std::string_view name) {
  for (const NamedRules& named : kNamed) {
    if (named.name == name) return &named.rules;
  }
  return nullptr;
}

std::vector<std::string> RoleRulesNames() {
  std::vector<std::string> names;
  for (const NamedRules& named : kNamed) names.emplace_back(named.name);
  return names;
}

std::string RefusalOf(const RoleRules& rules, const Json& body) {
  return Checker(rules, ReadMessages(rules, body)).Run();
}

}  // namespace dossier::model
