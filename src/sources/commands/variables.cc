#include "sources/commands/variables.h"

#include <cstdlib>

#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::sources {
namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view WithoutSign(std::string_view text) {
  return text.starts_with('-') ? text.substr(1) : text;
}

bool IsName(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && kLetters.find(text[0]) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos || IsDigit(c);
         });
}

// 64 bits; larger ones stay text.
std::optional<TemplateValue> ReadInteger(std::string_view text) {
  const auto number = ExactNumber<std::int64_t>(text);
  return number ? std::optional(TemplateValue(*number)) : std::nullopt;
}

bool IsInteger(std::string_view text, CommandRules rules) {
  if (rules == CommandRules::kCompat) return AllDigits(text);  // 007 is 7; -5 is none
  const std::string_view digits = WithoutSign(text);
  return AllDigits(digits) && (digits.size() == 1 || digits[0] != '0');
}

bool IsReal(std::string_view text, CommandRules rules) {
  const std::string_view digits = WithoutSign(text);
  const std::size_t point = digits.find('.');
  if (point == std::string_view::npos) return rules == CommandRules::kCompat && AllDigits(digits);
  return AllDigits(digits.substr(0, point)) && AllDigits(digits.substr(point + 1));
}

double ReadReal(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

// Plain words of YAML that are numbers: 1e3, .5, 0x1F and the like are left to the core schema.
std::optional<TemplateValue> ReadYamlNumber(std::string_view text) {
  if (text.find_first_not_of("0123456789.-+eE") != std::string_view::npos) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (auto integer = ReadInteger(text)) return integer;
  const auto real = ExactNumber<double>(text);
  return real ? std::optional(TemplateValue(*real)) : std::nullopt;
}

TemplateValue ValueOfScalar(const YamlNode& node) {
  if (node.style == YamlNode::Style::kPlain) {
    for (const std::string_view word : {"true", "True", "TRUE"}) {
      if (node.scalar == word) return TemplateValue(true);
    }
    for (const std::string_view word : {"false", "False", "FALSE"}) {
      if (node.scalar == word) return TemplateValue(false);
    }
    if (node.scalar == "Null" || node.scalar == "NULL") return TemplateValue();
    if (auto number = ReadYamlNumber(node.scalar)) return *number;
  }
  return TemplateValue(node.scalar);
}

Status AddGiven(const std::string& definition, CommandRules rules, TemplateVariables* variables) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string::npos || !IsName(definition.substr(0, equals))) {
    return MakeError(ErrorCode::kUsage,
                     "-D {}: must be NAME=VALUE; a name has letters, digits and _, and begins with "
                     "no digit",
                     definition);
  }
  (*variables)[definition.substr(0, equals)] = {
      CoerceText(std::string_view(definition).substr(equals + 1), rules),
      VariableOrigin::kCommandLine};
  return {};
}

}  // namespace

TemplateValue CoerceText(std::string_view text, CommandRules rules) {
  const std::string lower = ToLowerAscii(text);
  if (lower == "true" || lower == "false") return TemplateValue(lower == "true");
  if (IsInteger(text, rules)) {
    if (auto number = ReadInteger(text)) return *number;
  } else if (IsReal(text, rules)) {
    return TemplateValue(ReadReal(text));
  }
  return TemplateValue(text);
}

Result<TemplateVariables> ResolveVariables(const VariableInput& input) {
  TemplateVariables variables;
  for (const auto& [name, value] : input.declared) {
    if (value) variables[name] = {*value, VariableOrigin::kConfig};
    const auto text = input.environment ? input.environment(name) : std::nullopt;
    if (text) variables[name] = {CoerceText(*text, input.rules), VariableOrigin::kEnvironment};
  }
  for (const std::string& definition : input.given) {
    DOSSIER_RETURN_IF_ERROR(AddGiven(definition, input.rules, &variables));
  }
  for (const auto& [name, value] : input.declared) {
    if (variables.contains(name)) continue;
    return MakeError(ErrorCode::kConfig,
                     "variable {0} is required (no default): give -D {0}=VALUE or set it in the "
                     "environment",
                     name);
  }
  return variables;
}

TemplateValue ValueOfYaml(const YamlNode& node) {
  using Kind = YamlNode::Kind;
  if (node.kind == Kind::kScalar) return ValueOfScalar(node);
  if (node.kind == Kind::kList) {
    TemplateValue::List list;
    for (const YamlNode& item : node.items) list.push_back(ValueOfYaml(item));
    return list;
  }
  if (node.kind == Kind::kNull) return TemplateValue();
  TemplateValue::Map map;
  for (const YamlEntry& entry : node.entries) {
    map.push_back({entry.key, ValueOfYaml(entry.value)});
  }
  return map;
}

std::optional<std::string> LookUpEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dossier::sources
