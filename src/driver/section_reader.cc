#include "driver/section_reader.h"

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <iterator>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "sources/pack/pack.h"

namespace dossier::driver {
namespace {

using assembly::LayoutSection;
using assembly::Section;

constexpr std::uint64_t kMaxSourceBytes = 64ull << 20;

Json Provenance(std::string_view kind, std::string_view reference, std::string_view content) {
  return JsonObject{{"kind", kind},
                    {"reference", reference},
                    {"bytes", content.size()},
                    {"sha256", Sha256Hex(content)}};
}

tl::unexpected<Error> Unfit(const LayoutSection& rule, std::string_view what) {
  return MakeError(ErrorCode::kConfig, "section {}: {}", rule.name, what);
}

Result<assembly::Role> RoleOf(const LayoutSection& rule, const Json& turn) {
  const std::string_view name = FindString(turn, "role").value_or("");
  for (const assembly::Role role : {assembly::Role::kSystem, assembly::Role::kUser,
                                    assembly::Role::kAssistant, assembly::Role::kTool}) {
    if (assembly::RoleName(role) == name) return role;
  }
  return Unfit(rule, "each turn needs a role: system, user, assistant or tool");
}

// Returns what a tool gave: `content` as providers write it, a text or a list of texts, or `text`.
Result<std::string> ToolResultOf(const LayoutSection& rule, const Json& json) {
  if (const auto text = FindString(json, "text")) return std::string(*text);
  const Json* content = Find(json, "content");
  if (content && content->is_string()) return std::string(content->get_string());
  if (!content || !content->is_array()) {
    return Unfit(rule, "a tool_result needs content: a text or a list of text parts");
  }
  std::string all;
  for (const Json& part : content->get_array()) {
    const auto text = FindString(part, "text");
    if (!text) return Unfit(rule, "the content of a tool_result may hold text parts only");
    all += *text;
  }
  return all;
}

Result<assembly::Block> BlockOf(const LayoutSection& rule, const Json& json) {
  using Type = assembly::Block::Type;
  const std::string_view type = FindString(json, "type").value_or("text");
  const auto text = [&](std::string_view key) { return TextAt(json, key); };
  assembly::Block block{.text = text("text")};
  if (type == "text") return block;
  block.call_id = text("id");
  block.tool_name = text("name");
  if (type == "tool_call" || type == "tool_use") {
    block.type = Type::kToolCall;
    const Json* arguments = Find(json, type == "tool_use" ? "input" : "arguments");
    block.arguments = arguments ? *arguments : Json(JsonObject());
    return block;
  }
  if (type == "tool_result") {
    block.type = Type::kToolResult;
    if (block.call_id.empty()) block.call_id = text("tool_use_id");
    DOSSIER_ASSIGN_OR_RETURN(block.text, ToolResultOf(rule, json));
    return block;
  }
  if (type == "image" || type == "image_url") {
    block.type = Type::kImage;
    block.url = text("url");
    block.media_type = text("media_type");
    block.text = text("data");
    if (!block.url.empty() || !block.text.empty()) return block;
    return Unfit(rule, "an image needs a url, or media_type and data");
  }
  return Unfit(rule,
               fmt::format("unknown part {}; one of text, image, tool_call, tool_result", type));
}

Result<std::vector<assembly::Block>> BlocksOf(const LayoutSection& rule, const Json& content) {
  std::vector<assembly::Block> blocks;
  if (content.is_string()) {
    blocks.push_back({.text = std::string(content.get_string())});
    return blocks;
  }
  if (!content.is_array()) return Unfit(rule, "content must be a text or a list of parts");
  for (const Json& item : content.get_array()) {
    DOSSIER_ASSIGN_OR_RETURN(assembly::Block block, BlockOf(rule, item));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Reads a list of {role, content} or {role, blocks}, or canonical messages with such `turns`.
Status TakeTurns(const LayoutSection& rule, const Json& json, Section* section) {
  const Json* list = Find(json, "turns") ? Find(json, "turns") : &json;
  if (!list->is_array()) return Unfit(rule, "a history is a JSON list of turns");
  for (const Json& turn : list->get_array()) {
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Role role, RoleOf(rule, turn));
    const Json* content = Find(turn, "content") ? Find(turn, "content") : Find(turn, "blocks");
    if (!content) return Unfit(rule, "each turn needs content");
    DOSSIER_ASSIGN_OR_RETURN(std::vector<assembly::Block> blocks, BlocksOf(rule, *content));
    section->turns.push_back({role, std::move(blocks)});
  }
  return {};
}

Status TakeTools(const LayoutSection& rule, const Json& json, Section* section) {
  if (!json.is_array())
    return Unfit(rule, "tools are a JSON list of {name, description, parameters}");
  for (const Json& tool : json.get_array()) {
    const auto name = FindString(tool, "name");
    if (!name) return Unfit(rule, "each tool needs a name");
    const Json* parameters = Find(tool, "parameters");
    section->tools.push_back({.name = std::string(*name),
                              .description = TextAt(tool, "description"),
                              .parameters = parameters ? *parameters : Json(JsonObject())});
  }
  return {};
}

// Reads items: lines, or a JSON list of texts or {text, priority}.
Status TakeItems(const LayoutSection& rule, std::string_view content, Section* section) {
  if (!TrimSpace(content).starts_with('[')) {
    for (const std::string_view line : Split(content, '\n')) {
      if (!TrimSpace(line).empty()) section->items.emplace_back(line);
    }
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(content));
  for (const Json& item : json.get_array()) {
    const auto text = item.is_string() ? std::string_view(item.get_string())
                                       : FindString(item, "text").value_or("");
    if (text.empty()) return Unfit(rule, "each item needs a text");
    section->items.emplace_back(text);
    section->item_priorities.push_back(FindNumber(item, "priority").value_or(0.5));
  }
  return {};
}

// Converts `content` to the form that the section needs.
Result<Section> MakeSection(const LayoutSection& rule, std::string content, Json provenance) {
  Section section{.name = rule.name, .provenance = std::move(provenance)};
  const bool as_json = rule.source == "tools" || rule.source == "history" || rule.source == "data";
  const std::string_view start = TrimSpace(content).substr(0, 1);
  if (rule.fit == assembly::Fit::kItems) {
    DOSSIER_RETURN_IF_ERROR(TakeItems(rule, content, &section));
  } else if (as_json && (rule.source == "tools" || start == "[" || start == "{")) {
    auto json = ParseJson(content);
    if (!json) return Unfit(rule, "is no JSON: " + json.error().message);
    if (rule.source == "tools") {
      DOSSIER_RETURN_IF_ERROR(TakeTools(rule, *json, &section));
    } else if (rule.source == "history") {
      DOSSIER_RETURN_IF_ERROR(TakeTurns(rule, *json, &section));
    } else if (const Json* parts = Find(*json, "parts")) {
      DOSSIER_ASSIGN_OR_RETURN(section.parts, BlocksOf(rule, *parts));
    } else {
      section.data = std::move(*json);
    }
  } else {
    section.content = std::move(content);
  }
  return section;
}

std::string WithPath(const LayoutSection& rule, std::string_view key) {
  return TextAt(rule.with, key);
}

bool MayMiss(const LayoutSection& rule) {
  return rule.missing == LayoutSection::Missing::kIsAllowed &&
         rule.need == LayoutSection::Need::kOptional;
}

tl::unexpected<Error> CannotFill(const LayoutSection& rule) {
  return MakeError(ErrorCode::kNotFound,
                   "section {0}: nothing fills the source {1} here; with `assemble` give --source "
                   "{0}=@FILE, or mark the section optional",
                   rule.name, rule.source);
}

using Filled = assembly::SectionSource::Filled;

Filled FilledBy(const LayoutSection& rule) {
  const assembly::SectionSource* source = assembly::FindSectionSource(rule.source);
  return source ? source->filled : Filled::kByMaker;
}

// Returns true if the content is read or made here instead of by the driver: because of its source,
// or of a path or value in its declaration.
bool IsFromOutside(const LayoutSection& rule) {
  if (FilledBy(rule) == Filled::kByLayout) return false;
  if (FilledBy(rule) != Filled::kByDriver) return true;
  return Find(rule.with, "path") != nullptr || Find(rule.with, "value") != nullptr;
}

// Returns true if the built-in layout has this section with this source: then the driver fills it.
bool IsBuiltIn(const LayoutSection& rule, const assembly::Layout& built_in) {
  return std::any_of(
      built_in.sections.begin(), built_in.sections.end(), [&](const LayoutSection& known) {
        return known.name == rule.name && known.source == rule.source && known.with == rule.with;
      });
}

// Returns a layout without sections if there is no built-in one with the name that was looked up.
Result<assembly::Layout> BuiltInOf(const assembly::Layout& layout) {
  auto built_in = assembly::FindLayout(layout.found_as.empty() ? layout.name : layout.found_as, {});
  if (built_in || built_in.error().code != ErrorCode::kNotFound) return built_in;
  return assembly::Layout();
}

}  // namespace

Result<std::string> SectionReader::ReadPath(const LayoutSection& rule, const std::string& path) {
  // Identified by its real file, because one file has many paths.
  std::error_code none;
  std::string place = std::filesystem::weakly_canonical(path, none).string();
  if (place.empty()) place = path;
  const auto known = snapshot_.find(place);
  if (known != snapshot_.end()) return known->second;
  if (!Exists(path)) {
    return MakeError(ErrorCode::kNotFound,
                     "section {}: {} not found; mark it optional or fix the path", rule.name, path);
  }
  if (IsFolder(path)) {
    return MakeError(ErrorCode::kNotFound,
                     "section {0}: {1} is a folder; give --source {0}=dir:{1}", rule.name, path);
  }
  auto content = ReadFile(path, kMaxSourceBytes);
  if (!content) {
    return tl::unexpected(Error{content.error().code,
                                fmt::format("section {}: {}", rule.name, content.error().message)});
  }
  snapshot_[place] = *content;
  return content;
}

Status SectionReader::ReadGiven(const LayoutSection& rule, const std::string& reference,
                                std::istream& in, std::vector<Section>* out) {
  std::string content;
  Json provenance;
  if (reference == "-") {
    const auto used = snapshot_.find("-");
    if (used != snapshot_.end()) {
      return MakeError(ErrorCode::kUsage, "--source {}=-: standard input can be read only once",
                       rule.name);
    }
    content.assign(std::istreambuf_iterator<char>(in), {});
    snapshot_["-"] = "";
    provenance = Provenance("stdin", "-", content);
  } else if (reference.starts_with("text:")) {
    content = reference.substr(5);
    provenance = Provenance("text", "", content);
  } else if (reference.starts_with('@')) {
    DOSSIER_ASSIGN_OR_RETURN(content, ReadPath(rule, reference.substr(1)));
    provenance = Provenance("file", reference.substr(1), content);
  } else if (reference.starts_with("dir:") || IsFolder(reference)) {
    return ReadFiles(rule, {reference.starts_with("dir:") ? reference.substr(4) : reference}, out);
  } else {
    return MakeError(
        ErrorCode::kUsage,
        "--source {0}={1}: write {0}=@{1} for a file, {0}=text:{1} for the text itself, "
        "{0}=dir:PATH for a folder",
        rule.name, reference);
  }
  DOSSIER_ASSIGN_OR_RETURN(Section section,
                           MakeSection(rule, std::move(content), std::move(provenance)));
  out->push_back(std::move(section));
  return {};
}

Status SectionReader::ReadFiles(const LayoutSection& rule, const std::vector<std::string>& paths,
                                std::vector<Section>* out) {
  sources::PackOptions options{.paths = paths, .counter = sources_.counter};
  // All forms at once: the other sections determine which one fits.
  if (rule.fit == assembly::Fit::kFirstOf) options.forms = sources::PackOptions::Forms::kAll;
  auto packed = sources::Pack(options, sources_.cancel);
  if (!packed) {
    return tl::unexpected(Error{packed.error().code,
                                fmt::format("section {}: {}", rule.name, packed.error().message)});
  }
  warnings_.insert(warnings_.end(), packed->warnings.begin(), packed->warnings.end());
  Section section{.name = rule.name, .content = packed->Text()};
  section.provenance = Provenance("files", Join(paths, " "), section.content);
  if (rule.fit == assembly::Fit::kFirstOf) {
    section.alternatives["outline"] = packed->Text(sources::Form::kOutline);
    section.alternatives["names"] = packed->Text(sources::Form::kNames);
  }
  out->push_back(std::move(section));
  return {};
}

Status SectionReader::ReadMade(const LayoutSection& rule, const SectionMaker& maker,
                               std::vector<Section>* out) {
  Result<std::optional<std::string>> made = maker(rule.with, sources_.values);
  if (!made) {
    return tl::unexpected(
        Error{made.error().code, fmt::format("section {}: {}", rule.name, made.error().message)});
  }
  if (*made) {
    Json provenance = Provenance(rule.source, "", **made);
    DOSSIER_ASSIGN_OR_RETURN(Section section,
                             MakeSection(rule, *std::move(*made), std::move(provenance)));
    out->push_back(std::move(section));
    return {};
  }
  if (MayMiss(rule)) return {};
  return CannotFill(rule);
}

bool SectionReader::IsSet(const std::string& name) const {
  const auto found = sources_.values.find(name);
  return found != sources_.values.end() && !found->second.empty();
}

bool SectionReader::IsLeftOut(const LayoutSection& rule, Known values) const {
  if (!rule.unless.empty() && IsSet(rule.unless)) return true;
  return values == Known::kAll && !rule.when.empty() && !IsSet(rule.when);
}

Status SectionReader::ReadDeclared(const LayoutSection& rule, std::vector<Section>* out) {
  const std::string path = WithPath(rule, "path");
  if (rule.source == "inspect" && !path.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string content, ReadPath(rule, path));
    const auto about = inspect::DescribeText(content, path, {});
    const std::string hint = inspect::RenderHint(about, {});
    out->push_back(
        {.name = rule.name, .content = hint, .provenance = Provenance("inspect", path, content)});
    return {};
  }
  const auto maker = sources_.makers.find(rule.source);
  if (maker != sources_.makers.end()) {
    return ReadMade(rule, maker->second, out);
  }
  if (rule.source == "files") {
    std::vector<std::string> paths = StringsOf(Find(rule.with, "paths"));
    if (paths.empty()) paths.emplace_back(".");
    return ReadFiles(rule, paths, out);
  }
  if (const Json* value = Find(rule.with, "value"); value && rule.source == "data") {
    out->push_back({.name = rule.name, .provenance = JsonObject{{"kind", "data"}}, .data = *value});
    return {};
  }
  const bool by_path = FilledBy(rule) == Filled::kByPath || FilledBy(rule) == Filled::kByDriver;
  if (by_path && !path.empty()) {
    if (MayMiss(rule) && !Exists(path)) return {};
    DOSSIER_ASSIGN_OR_RETURN(std::string content, ReadPath(rule, path));
    Json provenance = Provenance(rule.source, path, content);
    DOSSIER_ASSIGN_OR_RETURN(Section section,
                             MakeSection(rule, std::move(content), std::move(provenance)));
    out->push_back(std::move(section));
    return {};
  }
  if (MayMiss(rule) || rule.source == "history" || rule.source == "tools") return {};
  if (by_path || rule.source == "inspect") {
    return MakeError(ErrorCode::kNotFound,
                     "section {0}: say which file: with: {{path: FILE}} in the layout, or --source "
                     "{0}=@FILE",
                     rule.name);
  }
  return CannotFill(rule);
}

Result<std::vector<Section>> SectionReader::ReadAll(const std::map<std::string, std::string>& given,
                                                    std::istream& in) {
  std::vector<Section> out;
  std::vector<std::string> names;
  for (const LayoutSection& rule : layout_.sections) names.push_back(rule.name);
  for (const auto& [name, reference] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::vector<std::string> nearest = NearestNames(name, names, 1);
    return MakeError(ErrorCode::kUsage, "--source {}: layout {} has no such section{}", name,
                     layout_.name, nearest.empty() ? "" : fmt::format(" ({}?)", nearest[0]));
  }
  for (const LayoutSection& rule : layout_.sections) {
    const auto own = given.find(rule.name);
    if (own != given.end()) {
      DOSSIER_RETURN_IF_ERROR(ReadGiven(rule, own->second, in, &out));
    } else if (FilledBy(rule) != Filled::kByLayout && !IsLeftOut(rule, Known::kAll)) {
      DOSSIER_RETURN_IF_ERROR(ReadDeclared(rule, &out));
    }
  }
  return out;
}

std::vector<Section> UserSections::With(std::vector<Section> made) const {
  made.insert(made.begin(), sections.begin(), sections.end());
  return made;
}

bool UserSections::Has(std::string_view name) const {
  return std::any_of(sections.begin(), sections.end(),
                     [name](const Section& section) { return section.name == name; });
}

JsonObject UserSections::Hashes() const {
  JsonObject hashes;
  for (const Section& section : sections) {
    hashes[section.name] = TextAt(section.provenance, "sha256");
  }
  return hashes;
}

Result<UserSections> ReadUserSections(const assembly::Layout& layout, SectionSources sources) {
  UserSections own;
  if (layout.overrides.empty()) return own;
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout built_in, BuiltInOf(layout));
  SectionReader reader(layout, std::move(sources));
  for (const LayoutSection& rule : layout.sections) {
    if (!IsFromOutside(rule) || IsBuiltIn(rule, built_in)) continue;
    if (reader.IsLeftOut(rule, SectionReader::Known::kSome)) continue;
    const Status read = reader.ReadDeclared(rule, &own.sections);
    const bool decided_later = !rule.when.empty() || !rule.unless.empty();
    if (!read && !(decided_later && read.error().code == ErrorCode::kNotFound)) {
      return tl::unexpected(read.error());
    }
  }
  own.warnings = reader.warnings();
  return own;
}

}  // namespace dossier::driver
