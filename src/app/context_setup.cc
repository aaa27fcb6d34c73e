#include "app/context_setup.h"

#include <algorithm>

#include "app/open_model.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "model/catalog/user_config.h"
#include "sources/commands/context_command.h"

namespace dossier::app {
namespace {

using sources::TemplateValue;

TemplateValue ValueOf(const Json& json) {
  switch (json.kind()) {
    case boost::json::kind::bool_:
      return TemplateValue(json.get_bool());
    case boost::json::kind::int64:
      return TemplateValue(json.get_int64());
    case boost::json::kind::uint64:
      return TemplateValue(static_cast<double>(json.get_uint64()));
    case boost::json::kind::double_:
      return TemplateValue(json.get_double());
    case boost::json::kind::string:
      return TemplateValue(std::string_view(json.get_string()));
    case boost::json::kind::array: {
      TemplateValue::List list;
      for (const Json& one : json.get_array()) list.push_back(ValueOf(one));
      return TemplateValue(std::move(list));
    }
    case boost::json::kind::object: {
      TemplateValue::Map map;
      for (const auto& [key, value] : json.get_object()) {
        map.push_back({std::string(key), ValueOf(value)});
      }
      return TemplateValue(std::move(map));
    }
    case boost::json::kind::null:
      break;
  }
  return TemplateValue();
}

sources::VariableInput VariablesOf(const ContextWish& wish, const config::Config& config) {
  sources::VariableInput input{.given = wish.variables, .environment = sources::LookUpEnvironment};
  for (const config::Variable& variable : config.variables) {
    auto& value = input.declared[variable.name];
    if (variable.value) value = ValueOf(*variable.value);
  }
  if (config.mode == config::CompatMode::kCompat) input.rules = sources::CommandRules::kCompat;
  return input;
}

// Shorter values ("1", "none") are not keys, and would remove half of the environment.
constexpr std::size_t kShortestKey = 8;        // bytes
constexpr std::size_t kLargestFile = 1 << 16;  // bytes

class Keys {
 public:
  void OfVariable(const std::string& name) {
    if (!name.empty()) Add(Environment(name).value_or(""));
  }

  // A file that cannot be read contains no key that could be in the environment.
  void OfFile(const std::string& path) {
    if (path.empty()) return;
    if (const auto bytes = ReadFile(path, kLargestFile)) Add(*bytes);
  }

  std::vector<std::string> Take() { return std::move(keys_); }

 private:
  void Add(std::string_view value) {
    const std::string_view key = TrimSpace(value);
    if (key.size() >= kShortestKey) keys_.emplace_back(key);
  }

  std::vector<std::string> keys_;
};

// Returns the available keys of providers, which no context command may see. A key that only a
// program returns (key_cmd, the desktop's secret service) is in no environment, so it is left out.
Result<std::vector<std::string>> KnownKeys(const config::Config& config) {
  DOSSIER_ASSIGN_OR_RETURN(model::UserConfig user, model::UserConfigOf(config));
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData(std::move(user)));
  Keys keys;
  for (const model::Provider& provider : data.catalog.providers()) {
    for (const std::string& name : provider.key_variables) keys.OfVariable(name);
  }
  keys.OfVariable(config.access.key_env);
  keys.OfFile(data.config.access.file);
  for (const auto& [name, access] : data.config.providers) keys.OfFile(access.file);
  return keys.Take();
}

}  // namespace

Result<PreparedContext> PrepareContext(const ContextWish& wish, const config::Config& config) {
  PreparedContext out;
  chat::ContextSetup& setup = out.setup;
  if (config.context_commands) {
    DOSSIER_ASSIGN_OR_RETURN(
        setup.commands,
        sources::ReadContextCommands(config.context_commands->node, config.context_commands->file));
  }
  for (sources::ContextCommand& command : sources::ExecCommands(wish.exec)) {
    setup.commands.push_back(std::move(command));
  }
  setup.variables = VariablesOf(wish, config);
  // A wrong -D is reported even if no template uses it.
  const auto given = sources::ResolveVariables({.given = wish.variables});
  if (!given) return tl::unexpected(given.error());
  setup.run.max_parallel = static_cast<std::size_t>(wish.jobs);
  setup.run.rules = setup.variables.rules;
  DOSSIER_ASSIGN_OR_RETURN(setup.run.known_keys, KnownKeys(config));
  setup.run.deadline = wish.deadline;
  const bool keeps = std::any_of(setup.commands.begin(), setup.commands.end(),
                                 [](const auto& command) { return command.keep_full; });
  if (keeps) {
    DOSSIER_ASSIGN_OR_RETURN(out.whole_outputs,
                             store::ContentStore::Open(config.user.data + "/content"));
    setup.run.store = out.whole_outputs.get();
  }
  return out;
}

}  // namespace dossier::app
