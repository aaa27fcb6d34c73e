#include "sources/header/agents_config.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/files/locations.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "config/load.h"
#include "sources/header/data_file.h"
#include "sources/header/json_fields.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kAgentNetFile = "agentnet.edn";

using Engine = AgentEngine;
constexpr std::string_view kOutputs[] = {"worktree", "patch-file"};
constexpr std::string_view kPlacements[] = {"volatile", "first"};

// Reads a program and its arguments.
Status ReadArgv(const JsonPlace& at, std::vector<std::string>* out) {
  constexpr std::string_view kWanted = "a list: the program and its arguments";
  if (!at.value.is_array() || !ReadTexts(at, out) || out->empty() || out->front().empty()) {
    return at.Fail(kWanted);
  }
  return {};
}

constexpr std::string_view kPresets = "data/engines/";
constexpr std::string_view kForms[] = {"text", "json", "json_lines"};
constexpr std::string_view kCachedCounts[] = {"beside", "part"};
constexpr std::string_view kCounts[] = {"last", "sum"};

Status ReadPointer(const JsonPlace& at, std::string* out) {
  DOSSIER_RETURN_IF_ERROR(ReadText(at, out));
  return out->starts_with('/') ? Status() : at.Fail("a JSON pointer, which starts with /");
}

using Reply = AgentEngine::Reply;
constexpr JsonField<Reply> kReplyFields[] = {
    {"form", Into<ReadWordOf<kForms>, &Reply::form>},
    {"text", Into<ReadPointer, &Reply::text>},
    {"input", Into<ReadPointer, &Reply::input>},
    {"cached", Into<ReadPointer, &Reply::cached>},
    {"written", Into<ReadPointer, &Reply::written>},
    {"cached_counts", Into<ReadWordOf<kCachedCounts>, &Reply::cached_counts>},
    {"output", Into<ReadPointer, &Reply::output>},
    {"cost", Into<ReadPointer, &Reply::cost>},
    {"counts", Into<ReadWordOf<kCounts>, &Reply::counts>},
};

Status ReadReply(const JsonPlace& at, AgentEngine* out) {
  return ReadJsonFields<Reply>(at.value, fmt::format("{}: {}", at.where, at.key), kReplyFields,
                               UnknownKeys::kRefused, &out->reply);
}

Status ReadCommands(const JsonPlace& at, AgentEngine* out) {
  const auto* list = at.value.if_array();
  if (!list) return at.Fail("a list of argument lists, such as [[make, test]]");
  for (const Json& item : *list) {
    DOSSIER_RETURN_IF_ERROR(ReadArgv({at.where, at.key, item}, &out->commands.emplace_back()));
  }
  return {};
}

constexpr JsonField<AgentEngine> kEngineFields[] = {
    {"argv", Into<ReadArgv, &Engine::argv>},
    {"output", Into<ReadWordOf<kOutputs>, &Engine::output>},
    {"stdin", Into<ReadFlagAs<Engine::Input::kPrompt, Engine::Input::kNone>, &Engine::input>},
    {"env_allow", Into<ReadTexts, &Engine::env_allow>},
    {"writable", Into<ReadTexts, &Engine::writable>},
    {"readable", Into<ReadTexts, &Engine::readable>},
    {"reply", ReadReply},
    {"retry_wait", Into<ReadTimeFrom<0>, &Engine::retry_wait>},
    {"builtin", Into<ReadFlag, &Engine::builtin>},
    {"model", Into<ReadText, &Engine::model>},
    {"commands", ReadCommands},
};

// Returns the names in braces in `word`. Braces after a dollar sign belong to a shell.
std::vector<std::string> NamesInBraces(std::string_view word) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = word.find('{', at)) != std::string_view::npos; ++at) {
    const std::size_t end = word.find_first_not_of(kLetters, at + 1);
    if (end == std::string_view::npos || word[end] != '}' || end == at + 1) continue;
    if (at == 0 || word[at - 1] != '$') names.emplace_back(word.substr(at + 1, end - at - 1));
  }
  return names;
}

// Rejects unknown placeholders, since they would reach the program unreplaced.
Status CheckPlaceholders(std::string_view where, const std::vector<std::string>& argv) {
  const std::vector<std::string> known(std::begin(kEnginePlaceholders),
                                       std::end(kEnginePlaceholders));
  for (const std::string& word : argv) {
    for (const std::string& name : NamesInBraces(word)) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const auto near = NearestNames(name, known, 1);
      return MakeError(ErrorCode::kConfig,
                       "{}: argv: there is no placeholder {{{}}}{}; there are {{{}}}, and a blank "
                       "behind the brace makes it plain text",
                       where, name, near.empty() ? "" : fmt::format(" ({{{}}}?)", near.front()),
                       Join(known, "} {"));
    }
  }
  return {};
}

Status CheckEngine(std::string_view where, const AgentEngine& engine) {
  DOSSIER_RETURN_IF_ERROR(CheckPlaceholders(where, engine.argv));
  if (engine.builtin && !engine.argv.empty()) {
    return MakeError(ErrorCode::kConfig, "{}: give argv or builtin, not both", where);
  }
  if (!engine.builtin && engine.argv.empty()) {
    return MakeError(ErrorCode::kConfig, "{}: needs argv, preset or builtin: true", where);
  }
  return {};
}

// Returns the keys of a built-in engine, without those that only document its origin.
Result<JsonObject> PresetKeys(std::string_view where, const std::string& name) {
  const std::string path = fmt::format("{}{}.yaml", kPresets, name);
  const auto text = BuiltInAsset(path);
  if (!text) {
    const std::vector<std::string> names = EnginePresetNames();
    return MakeError(ErrorCode::kConfig, "{}: there is no preset {}; there are {}{}", where, name,
                     Join(names, ", "), DidYouMean(name, names));
  }
  DOSSIER_ASSIGN_OR_RETURN(const DataFile data, ParseData(std::string(*text), path));
  JsonObject keys = data.value.as_object();
  for (const std::string_view about : {"schema", "as_of", "source", "status"}) keys.erase(about);
  return keys;
}

// Returns the keys of the preset, overridden by those given beside it.
Result<Json> WithPreset(std::string_view where, const Json& given) {
  const auto* map = given.if_object();
  const Json* preset = map ? map->if_contains("preset") : nullptr;
  if (!preset || preset->is_null()) return given;
  std::string name;
  DOSSIER_RETURN_IF_ERROR(ReadText({where, "preset", *preset}, &name));
  DOSSIER_ASSIGN_OR_RETURN(JsonObject keys, PresetKeys(where, name));
  for (const auto& [key, value] : *map) {
    if (key != "preset" && !value.is_null()) keys[key] = value;
  }
  return Json(std::move(keys));
}

Status ReadEngines(const JsonPlace& at, AgentsConfig* out) {
  const auto* map = at.value.if_object();
  if (!map) return at.Fail("a map of names to engines");
  for (const auto& [name, value] : *map) {
    AgentEngine engine{.name = name};
    const std::string where = fmt::format("{}: {}.{}", at.where, at.key, engine.name);
    DOSSIER_ASSIGN_OR_RETURN(const Json whole, WithPreset(where, value));
    DOSSIER_RETURN_IF_ERROR(
        ReadJsonFields<AgentEngine>(whole, where, kEngineFields, UnknownKeys::kRefused, &engine));
    DOSSIER_RETURN_IF_ERROR(CheckEngine(where, engine));
    out->engines.push_back(std::move(engine));
  }
  return {};
}

constexpr JsonField<AgentCheck> kCheckFields[] = {
    {"name", Into<ReadText, &AgentCheck::name>},
    {"argv", Into<ReadArgv, &AgentCheck::argv>},
    {"timeout", Into<ReadTimeFrom<1>, &AgentCheck::timeout>},
    {"network", Into<ReadFlag, &AgentCheck::network>},
    {"writable", Into<ReadTexts, &AgentCheck::writable>},
    {"readable", Into<ReadTexts, &AgentCheck::readable>}};

Status ReadChecks(const JsonPlace& at, AgentsConfig* out) {
  const auto* list = at.value.if_array();
  if (!list) return at.Fail("a list of maps with name and argv");
  for (const Json& item : *list) {
    AgentCheck& check = out->checks.emplace_back();
    const std::string where = fmt::format("{}: check {}", at.where, out->checks.size());
    DOSSIER_RETURN_IF_ERROR(
        ReadJsonFields<AgentCheck>(item, where, kCheckFields, UnknownKeys::kRefused, &check));
    if (check.argv.empty()) return MakeError(ErrorCode::kConfig, "{}: needs argv", where);
    if (check.name.empty()) check.name = check.argv.front();
  }
  return {};
}

Status ReadReviewerPrompt(const JsonPlace& at, AgentsConfig* out) {
  constexpr std::string_view kNames[] = {"reviewer", "cto"};
  std::size_t choice = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, kNames, &choice));
  out->reviewer_prompt = kNames[choice];
  return {};
}

constexpr JsonField<AgentsConfig> kAgentsFields[] = {
    {"tasks", Into<ReadTexts, &AgentsConfig::tasks>},
    {"policy", Into<ReadText, &AgentsConfig::policy>},
    {"prompts", Into<ReadText, &AgentsConfig::prompts>},
    {"notes", Into<ReadText, &AgentsConfig::notes>},
    {"runs", Into<ReadText, &AgentsConfig::runs>},
    {"engineer", Into<ReadText, &AgentsConfig::engineer>},
    {"reviewer", Into<ReadText, &AgentsConfig::reviewer>},
    {"reviewer_prompt", ReadReviewerPrompt},
    {"checks", ReadChecks},
    {"engines", ReadEngines},
    {"recent_sec", Into<ReadTimeFrom<0>, &AgentsConfig::header, &HeaderConfig::window>},
};

// Reads a list whose items are among `names`.
Status ReadSomeOf(const JsonPlace& at, std::span<const std::string_view> names,
                  std::vector<std::string>* out) {
  const std::string wanted =
      "a list of some of " + Join(std::vector<std::string>(names.begin(), names.end()), ", ");
  if (!ReadTexts(at, out)) return at.Fail(wanted);
  for (const std::string& name : *out) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return at.Fail(wanted + DidYouMean(name, names));
    }
  }
  return {};
}

Status ReadHotspots(const JsonPlace& at, HeaderConfig* out) {
  constexpr std::string_view kNames[] = {"notes", "files"};
  std::vector<std::string> given;
  DOSSIER_RETURN_IF_ERROR(ReadSomeOf(at, kNames, &given));
  const auto has = [&](std::string_view name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  out->hotspot_notes = has("notes");
  out->hotspot_files = has("files");
  return {};
}

Status ReadWith(const JsonPlace& at, HeaderConfig* out) {
  return ReadSomeOf(at, kHeaderExtras, &out->with);
}

constexpr JsonField<HeaderConfig> kHeaderFields[] = {
    {"window", Into<ReadTimeFrom<0>, &HeaderConfig::window>},
    {"age_step", Into<ReadTimeFrom<1>, &HeaderConfig::age_step>},
    {"placement", Into<ReadWordOf<kPlacements>, &HeaderConfig::placement>},
    {"hotspots", ReadHotspots},
    {"with", ReadWith},
};

// Unknown keys are reported but stop nothing.
template <typename T>
void WarnOfUnknown(const Json& value, std::string_view where, std::span<const JsonField<T>> fields,
                   std::vector<std::string>* warnings) {
  std::vector<std::string> known;
  for (const JsonField<T>& field : fields) known.emplace_back(field.key);
  for (const auto& [key, inner] : value.get_object()) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) != known.end()) continue;
    warnings->push_back(UnknownKey(where, key, known).value().message + " is ignored");
  }
}

template <typename T>
Status ReadKnown(const Json& value, std::string_view where, std::span<const JsonField<T>> fields,
                 T* out, std::vector<std::string>* warnings) {
  DOSSIER_RETURN_IF_ERROR(ReadJsonFields<T>(value, where, fields, UnknownKeys::kIgnored, out));
  WarnOfUnknown<T>(value, where, fields, warnings);
  return {};
}

const config::ConfigSection* SectionOf(const config::Config& config, const char* name) {
  const auto found = config.sections.find(name);
  return found == config.sections.end() ? nullptr : &found->second;
}

}  // namespace

const AgentEngine* AgentsConfig::FindEngine(std::string_view name) const {
  for (const AgentEngine& engine : engines) {
    if (engine.name == name) return &engine;
  }
  // Keys in EDN files lose their dashes.
  for (const AgentEngine& engine : engines) {
    if (NormalKey(engine.name) == NormalKey(name)) return &engine;
  }
  return nullptr;
}

std::vector<std::string> EnginePresetNames() {
  std::vector<std::string> names;
  for (const std::string_view path : BuiltInAssets(kPresets)) {
    names.push_back(std::filesystem::path(path).stem());
  }
  return names;
}

std::vector<std::string> AgentsConfig::EngineNames() const {
  std::vector<std::string> names;
  for (const AgentEngine& engine : engines) names.push_back(engine.name);
  return names;
}

namespace {

Result<DataFile> ParseAgentNet(const config::ConfigFile& file) {
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ParseData(file.bytes, kAgentNetFile));
  if (data.value.is_null()) data.value = JsonObject();
  if (data.value.is_object()) return data;
  return MakeError(ErrorCode::kConfig, "{}: must be a map of keys", kAgentNetFile);
}

std::vector<std::string> PowersOf(const Json& agentnet) {
  std::vector<std::string> powers;
  for (const auto& [key, value] : agentnet.get_object()) {
    if (!value.is_null() && config::IsAgentPower(key, value)) powers.emplace_back(key);
  }
  return powers;
}

}  // namespace

Result<std::vector<std::string>> AgentNetPowers(const config::ConfigFile& file) {
  DOSSIER_ASSIGN_OR_RETURN(const DataFile data, ParseAgentNet(file));
  return PowersOf(data.value);
}

Result<std::optional<AgentNet>> ReadAgentNet(const std::string& root,
                                             const config::FileReader& read,
                                             const config::Decide& decide) {
  const std::string path = (std::filesystem::path(root) / kAgentNetFile).string();
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<config::ConfigFile> file, read(path));
  if (!file) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ParseAgentNet(*file));
  std::vector<std::string> powers = PowersOf(data.value);
  if (config::LeadsOut(*file, root)) powers.push_back("a link to " + file->real_path);
  if (!powers.empty()) DOSSIER_RETURN_IF_ERROR(decide({*file, std::move(powers)}));
  return AgentNet{std::move(data.value), std::move(data.warnings)};
}

Result<AgentsConfig> ReadAgentsConfig(const config::Config& config,
                                      const std::optional<AgentNet>& agentnet) {
  AgentsConfig out;
  const config::ConfigSection* agents = SectionOf(config, "agents");
  const Json own = agents ? ToJsonValue(agents->node) : Json(JsonObject());
  if (agentnet) {
    Json below = agentnet->value;
    out.warnings = agentnet->warnings;
    if (own.is_object()) {
      for (const auto& [key, value] : own.get_object()) {
        if (!value.is_null()) below.as_object().erase(key);
      }
    }
    DOSSIER_RETURN_IF_ERROR(
        ReadKnown<AgentsConfig>(below, kAgentNetFile, kAgentsFields, &out, &out.warnings));
  }
  if (agents) {
    const std::string where = agents->file + ": agents";
    DOSSIER_RETURN_IF_ERROR(
        ReadKnown<AgentsConfig>(own, where, kAgentsFields, &out, &out.warnings));
  }
  if (const config::ConfigSection* header = SectionOf(config, "header")) {
    DOSSIER_RETURN_IF_ERROR(ReadKnown<HeaderConfig>(ToJsonValue(header->node),
                                                    header->file + ": header", kHeaderFields,
                                                    &out.header, &out.warnings));
  }
  return out;
}

namespace {

constexpr std::size_t kMaxShownGlob = 200;  // code points, in a message
constexpr std::string_view kPolicyStem = "config/policy";

Status ReadGlobs(const JsonPlace& at, std::vector<std::string>* out) {
  DOSSIER_RETURN_IF_ERROR(ReadTexts(at, out));
  for (const std::string& glob : *out) {
    if (const Status good = CheckGlob(glob); !good) {
      return MakeError(ErrorCode::kConfig, "{}: {}: {}", PlaceText(at.in, at.where, at.key), at.key,
                       good.error().message);
    }
  }
  return {};
}

constexpr JsonField<ChangePolicy> kPolicyFields[] = {
    {"allow", Into<ReadGlobs, &ChangePolicy::allow>},
    {"deny", Into<ReadGlobs, &ChangePolicy::deny>},
    {"max_lines_added", Into<ReadWholeFrom<0>, &ChangePolicy::max_lines_added>},
    {"max_lines_deleted", Into<ReadWholeFrom<0>, &ChangePolicy::max_lines_deleted>},
    {"max_files", Into<ReadWholeFrom<0>, &ChangePolicy::max_files>},
    {"max_patch_bytes", Into<ReadWholeFrom<1>, &ChangePolicy::max_patch_bytes>},
    {"allow_binary", Into<ReadFlag, &ChangePolicy::allow_binary>},
    {"allow_symlinks", Into<ReadFlag, &ChangePolicy::allow_symlinks>},
    {"allow_submodules", Into<ReadFlag, &ChangePolicy::allow_submodules>},
    {"allow_control_files", Into<ReadFlag, &ChangePolicy::allow_control_files>},
    {"propose_timeout_seconds", Into<ReadTimeFrom<1>, &ChangePolicy::propose_timeout>},
    {"review_timeout_seconds", Into<ReadTimeFrom<1>, &ChangePolicy::review_timeout>},
};

// Walks a pattern once and tracks the position.
class GlobChecker {
 public:
  explicit GlobChecker(std::string_view pattern) : pattern_(pattern) {}

  Status Check() {
    if (pattern_.empty()) return Fail(0, "an empty pattern matches nothing");
    if (pattern_.size() > kMaxGlobBytes) return Fail(0, "longer than 4,096 bytes");
    if (pattern_.front() == '/') return Fail(0, "paths start at the root without /");
    for (const std::string_view part : Split(pattern_, '/')) {
      const auto at = static_cast<std::size_t>(part.data() - pattern_.data());
      if (part == "..") return Fail(at, "no path holds ..");
      // A rule that can match nothing is a typing error.
      if (part == ".") return Fail(at, "no path holds . as a part: leave it out");
      if (part.empty()) {
        return Fail(at, "no path has an empty part; all below a folder is folder/**");
      }
    }
    std::vector<std::size_t> braces;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\' && at_ + 1 == pattern_.size()) return Fail(at_, "\\ escapes nothing");
      if (c == '[') {
        DOSSIER_RETURN_IF_ERROR(CheckClass());
        continue;
      }
      if (c == '{') braces.push_back(at_);
      if (braces.size() > kMaxGlobDepth) return Fail(at_, "{ nested deeper than 32");
      if (c == '}' && !braces.empty()) braces.pop_back();
      at_ += c == '\\' ? 2 : 1;
    }
    return braces.empty() ? Status() : Status(Fail(braces.back(), "{ is never closed"));
  }

 private:
  tl::unexpected<Error> Fail(std::size_t offset, std::string_view what) const {
    return MakeError(ErrorCode::kConfig, "{}:{}: {}",
                     utf8::CleanForTerminal(utf8::Prefix(pattern_, kMaxShownGlob)),
                     1 + utf8::CodePoints(pattern_.substr(0, offset)), what);
  }

  // Checks from `[` to after its `]`.
  Status CheckClass() {
    const std::size_t open = at_++;
    if (at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^')) ++at_;
    const std::size_t first = at_;
    char32_t low = 0;
    enum class Range { kNone, kOpen } range = Range::kNone;
    while (at_ < pattern_.size() && (pattern_[at_] != ']' || at_ == first)) {
      const std::size_t start = at_;
      if (pattern_[at_] == '-' && start != first && range == Range::kNone &&
          at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        range = Range::kOpen;
        ++at_;
        continue;
      }
      if (pattern_[at_] == '\\' && ++at_ >= pattern_.size()) break;
      const char32_t code = utf8::Next(pattern_, &at_);
      if (range == Range::kOpen && code < low) return Fail(start, "a range runs backwards");
      range = Range::kNone;
      low = code;
    }
    if (at_ >= pattern_.size()) return Fail(open, "[ is never closed");
    ++at_;
    return {};
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

}  // namespace

Status CheckGlob(std::string_view pattern) { return GlobChecker(pattern).Check(); }

Result<ChangePolicy> ParseChangePolicy(std::string text, const std::string& file) {
  ChangePolicy policy;
  policy.file = file;
  policy.sha256 = Sha256Hex(text);
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ParseData(std::move(text), file));
  policy.warnings = std::move(data.warnings);
  const DataPlace top{data, ""};
  DOSSIER_RETURN_IF_ERROR(ReadJsonFields<ChangePolicy>(data.value, "", kPolicyFields,
                                                       UnknownKeys::kRefused, &policy, &top));
  return policy;
}

Result<ChangePolicy> LoadChangePolicy(const std::string& root, const std::string& file) {
  std::string name = file;
  if (name.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto found, FindDataFile(root, kPolicyStem));
    name = found.value_or("");
  }
  if (name.empty()) {
    ChangePolicy policy;
    policy.allow = {"src/**", "scripts/**", "docs/**", "config/**"};
    policy.warnings.emplace_back(
        "there is no config/policy.edn: src, scripts, docs and config may change, without limits");
    return policy;
  }
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ReadDataFile(root, name));
  return ParseChangePolicy(std::move(data.text), name);
}

}  // namespace dossier::sources
