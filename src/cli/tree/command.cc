#include "cli/tree/command.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json/json.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// The default kind of a value, by its type.
struct KindOfTarget {
  template <typename T>
  const ValueKind* operator()(std::optional<T>*) const {
    return (*this)(static_cast<T*>(nullptr));
  }
  const ValueKind* operator()(bool*) const { return &kNothing; }
  const ValueKind* operator()(int*) const { return &kWhole; }
  const ValueKind* operator()(std::int64_t*) const { return &kWhole; }
  const ValueKind* operator()(std::uint64_t*) const { return &kNatural; }
  const ValueKind* operator()(double*) const { return &kNumber; }
  const ValueKind* operator()(std::string*) const { return &kText; }
  const ValueKind* operator()(std::vector<std::string>*) const { return &kText; }

  static constexpr ValueKind kNothing{""}, kWhole{"N"}, kNatural{"N"}, kNumber{"N"}, kText{"TEXT"};
};

// Formats the value of a target as help shows it.
struct DefaultText {
  template <typename T>
  std::string operator()(const std::optional<T>*) const {
    return "";
  }
  std::string operator()(const bool*) const { return ""; }
  std::string operator()(const std::vector<std::string>*) const { return ""; }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const double* number) const { return fmt::format("{:g}", *number); }
  template <typename Whole>
  std::string operator()(const Whole* number) const {
    return fmt::format("{}", *number);
  }
};

}  // namespace

Flag::Flag(std::string_view names, FlagTarget to, std::string help, std::string_view group)
    : to_(to), help_(std::move(help)), group_(group), kind_(std::visit(KindOfTarget(), to)) {
  for (const std::string_view name : Split(names, ',')) {
    if (name.starts_with("--")) {
      long_.emplace_back(name.substr(2));
    } else if (name.starts_with('-')) {
      short_.emplace_back(name.substr(1));
    }
  }
  name_ = Split(names, ',').front();
}

Flag& Flag::Kind(const ValueKind& kind) {
  kind_ = &kind;
  return *this;
}

Flag& Flag::Required() {
  required_ = true;
  return *this;
}

Flag& Flag::OneOf(std::vector<std::string> words) {
  choices_ = std::move(words);
  return *this;
}

Flag& Flag::Between(double low, double high) {
  range_ = {low, high};
  return *this;
}

Flag& Flag::Positive() { return Between(std::numeric_limits<double>::min(), kNoBound); }

Flag& Flag::NotNegative() { return Between(0, kNoBound); }

Flag& Flag::ShowDefault() {
  default_text_ = std::visit(DefaultText(), to_);
  return *this;
}

Flag& Flag::Counts() {
  counts_ = true;
  return *this;
}

Flag& Flag::Often() {
  often_ = true;
  return *this;
}

Flag& Flag::TakesRest() {
  takes_rest_ = true;
  return *this;
}

Flag& Flag::Implies(std::string word) {
  implied_ = std::move(word);
  return *this;
}

Flag& Flag::Excludes(std::string_view name) {
  excluded_.emplace_back(name);
  return *this;
}

Flag& Flag::Formerly(std::string_view name) {
  former_.emplace_back(name);
  return *this;
}

bool Flag::IsSwitch() const {
  return counts_ || implied_ || std::holds_alternative<bool*>(to_) ||
         std::holds_alternative<std::optional<bool>*>(to_);
}

bool Flag::IsMany() const { return std::holds_alternative<std::vector<std::string>*>(to_); }

bool Flag::Is(std::string_view word) const {
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(former_, word)) return true;
  if (word.starts_with("--")) return has(long_, word.substr(2));
  return word.starts_with('-') && has(short_, word.substr(1));
}

std::string Flag::Complaint(const std::string& value) const {
  const bool chosen =
      choices_.empty() || std::find(choices_.begin(), choices_.end(), value) != choices_.end();
  if (!chosen) return fmt::format("{} is not {}", value, dossier::OneOf(value, choices_));
  if (!range_) return "";
  const auto number = ParseNumber(value);
  if (!number) return fmt::format("{} is no number", value);
  if (*number >= range_->low && *number <= range_->high) return "";
  if (range_->high == kNoBound) return fmt::format("{} is too small", value);
  return fmt::format("{} is not between {:g} and {:g}", value, range_->low, range_->high);
}

Flag& Flags::Add(std::string_view names, FlagTarget to, std::string help) {
  return declared_->list.emplace_back(names, to, std::move(help), group_);
}

Flags Flags::In(std::string_view group) const {
  Flags flags = *this;
  flags.group_ = group;
  return flags;
}

CommandNode::CommandNode(Command command, const CommandNode* above)
    : command_(std::move(command)),
      above_(above),
      path_(above ? fmt::format("{} {}", above->path(), command_.name)
                  : std::string(command_.name)) {
  for (const Command& one : command_.commands) {
    below_.push_back(std::make_unique<CommandNode>(one, this));
  }
}

Command::Signals CommandNode::signals() const {
  if (command_.signals != Command::Signals::kTakenOver || !above_) return command_.signals;
  return above_->signals();
}

const CommandNode& CommandNode::root() const { return above_ ? above_->root() : *this; }

const CommandNode::Declaration& CommandNode::Declared() const {
  if (!declared_) {
    declared_ = std::make_unique<Declaration>();
    Flags& flags = declared_->flags;
    flags.Add("-h", &declared_->help, "short help");
    flags.Add("--help", &declared_->help, "help with all flags");
    if (!above_)
      flags.Add("-V,--version", &declared_->help, "the version (with --json: one object)");
    if (command_.binding) declared_->run = command_.binding(declared_->flags);
  }
  return *declared_;
}

std::vector<const CommandNode*> CommandNode::Commands() const {
  std::vector<const CommandNode*> shown;
  for (const auto& one : below_) {
    if (one->listed()) shown.push_back(one.get());
  }
  return shown;
}

std::vector<const Flag*> CommandNode::Options() const {
  std::vector<const Flag*> shown;
  for (const Flag& flag : flags()) {
    if (!flag.IsArgument() && flag.IsShown()) shown.push_back(&flag);
  }
  return shown;
}

std::vector<const Flag*> CommandNode::Arguments() const {
  std::vector<const Flag*> arguments;
  for (const Flag& flag : flags()) {
    if (flag.IsArgument()) arguments.push_back(&flag);
  }
  return arguments;
}

std::vector<std::string> CommandNode::FlagNames() const {
  std::vector<std::string> names;
  for (const CommandNode* node = this; node; node = node->above()) {
    for (const Flag& flag : node->flags()) {
      for (const std::string& name : flag.short_names()) names.push_back("-" + name);
      for (const std::string& name : flag.long_names()) {
        names.push_back("--" + name);
        if (HasTwin(flag)) names.push_back(TwinOf(name));
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const Flag* CommandNode::FindFlag(std::string_view name) const {
  for (const CommandNode* node = this; node; node = node->above()) {
    for (const Flag& flag : node->flags()) {
      if (flag.Is(name)) return &flag;
    }
  }
  return nullptr;
}

const CommandNode* CommandNode::Find(std::span<const std::string> words) const {
  const CommandNode* node = this;
  for (const std::string& word : words) {
    const auto& below = node->below_;
    const auto found = std::find_if(below.begin(), below.end(),
                                    [&](const auto& one) { return one->name() == word; });
    if (found == below.end()) return nullptr;
    node = found->get();
  }
  return node;
}

bool CommandNode::AsksForJson() const {
  for (const Flag& flag : flags()) {
    if (!flag.Is("--json")) continue;
    if (bool* const* given = std::get_if<bool*>(&flag.to())) return **given;
  }
  return false;
}

bool HasTwin(const Flag& flag) {
  return flag.IsSwitch() && !flag.implied() && !flag.Is("--help") && !flag.Is("--version");
}

std::string TwinOf(std::string_view long_name) {
  constexpr std::string_view kNo = "no-";
  if (long_name.starts_with(kNo)) return fmt::format("--{}", long_name.substr(kNo.size()));
  return fmt::format("--no-{}", long_name);
}

int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err) {
  if (form == FailureForm::kJson) {
    out << ToJson(JsonObject{{"schema", "dossier.error/1"},
                             {"error", JsonObject{{"code", ErrorName(error.code)},
                                                  {"exit", ExitCode(error.code)},
                                                  {"message", Redact(error.message)}}}})
        << '\n'
        << std::flush;
  }
  return PrintError(err, error);
}

}  // namespace dossier::cli
