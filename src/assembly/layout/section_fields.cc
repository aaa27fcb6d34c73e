#include "assembly/layout/section_fields.h"

#include <array>

#include "assembly/layout/yaml_fields.h"

namespace dossier::assembly {
namespace {

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 40;

// What the file says, and whether it says it: defaults depend on other keys.
struct Draft {
  LayoutSection section;
  bool has_role = false, has_trust = false;
  bool required = false, optional = false;
};

using Place = FieldPlace;

constexpr std::array<std::string_view, 6> kZones = {"tools",   "system",   "stable",
                                                    "history", "volatile", "request"};
constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};
constexpr std::array<std::string_view, 7> kFits = {"whole", "head",    "tail",    "middle",
                                                   "items", "history", "first-of"};
constexpr std::array<std::string_view, 7> kFences = {"default", "none", "tag",    "heading",
                                                     "growing", "data", "markers"};
constexpr std::array<std::string_view, 14> kSources = {
    "text",      "file",    "files",   "command", "header",   "environment", "memory",
    "resources", "history", "inspect", "var",     "template", "data",        "tools"};
constexpr std::array<std::string_view, 4> kChanges = {"never", "run", "turn", "call"};
constexpr std::array<std::string_view, 2> kTrusts = {"trusted", "untrusted"};
constexpr std::array<std::string_view, 3> kRenders = {"markdown", "json", "yaml"};

template <typename Enum>
Status ReadEnum(const Place& at, std::span<const std::string_view> names, Enum* out) {
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, names, &index));
  *out = static_cast<Enum>(index);
  return {};
}

Status ReadOptionalWhole(const Place& at, std::optional<std::int64_t>* out) {
  std::int64_t number = 0;
  DOSSIER_RETURN_IF_ERROR(ReadWhole(at, 1, &number));
  *out = std::min(number, kMaxTokens);
  return {};
}

Status ReadClamped(const Place& at, std::int64_t* out) {
  DOSSIER_RETURN_IF_ERROR(ReadWhole(at, 0, out));
  *out = std::min(*out, kMaxTokens);
  return {};
}

Status ReadSource(const Place& at, Draft* out) {
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, kSources, &index));
  out->section.source = kSources[index];
  return {};
}

Status ReadChanges(const Place& at, Draft* out) {
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, kChanges, &index));
  out->section.changes = kChanges[index];
  return {};
}

// `with` belongs to the source; what this module does not read itself is for whoever gives content.
Status ReadWith(const Place& at, Draft* out) {
  if (at.value.kind != YamlNode::Kind::kMap) return at.Fail("with must be a map of keys");
  out->section.with = ToJsonValue(at.value);
  for (const YamlEntry& entry : at.value.entries) {
    const Place inner{at.file, entry.key, entry.value};
    if (entry.key == "var") DOSSIER_RETURN_IF_ERROR(ReadString(inner, &out->section.variable));
    if (entry.key == "text") DOSSIER_RETURN_IF_ERROR(ReadString(inner, &out->section.text));
  }
  return {};
}

Status ReadKeep(const Place& at, Draft* out) {
  static constexpr Field<LayoutSection> kKeep[] = {
      {"ratio",
       [](const Place& p, LayoutSection* s) { return ReadNumber(p, 0, 1, &s->keep_ratio); }},
      {"turns",
       [](const Place& p, LayoutSection* s) -> Status {
         std::int64_t turns = 0;
         DOSSIER_RETURN_IF_ERROR(ReadWhole(p, 0, &turns));
         s->keep_turns = static_cast<int>(std::min<std::int64_t>(turns, 1 << 20));
         return {};
       }},
      {"drop_to",
       [](const Place& p, LayoutSection* s) { return ReadNumber(p, 0, 1, &s->drop_to); }},
  };
  return ReadFields<LayoutSection>(at.value, at.file, kKeep, &out->section);
}

constexpr Field<Draft> kFields[] = {
    {"name", [](const Place& p, Draft* d) { return ReadString(p, &d->section.name); }},
    {"zone", [](const Place& p, Draft* d) { return ReadEnum(p, kZones, &d->section.zone); }},
    {"role",
     [](const Place& p, Draft* d) {
       d->has_role = true;
       return ReadEnum(p, kRoles, &d->section.role);
     }},
    {"source", ReadSource},
    {"with", ReadWith},
    {"template", [](const Place& p, Draft* d) { return ReadString(p, &d->section.template_name); }},
    {"text", [](const Place& p, Draft* d) { return ReadString(p, &d->section.text); }},
    {"var", [](const Place& p, Draft* d) { return ReadString(p, &d->section.variable); }},
    {"title", [](const Place& p, Draft* d) { return ReadString(p, &d->section.title); }},
    {"fence", [](const Place& p, Draft* d) { return ReadEnum(p, kFences, &d->section.fence); }},
    {"trust",
     [](const Place& p, Draft* d) {
       d->has_trust = true;
       return ReadEnum(p, kTrusts, &d->section.trust);
     }},
    {"required", [](const Place& p, Draft* d) { return ReadFlag(p, &d->required); }},
    {"optional", [](const Place& p, Draft* d) { return ReadFlag(p, &d->optional); }},
    {"priority",
     [](const Place& p, Draft* d) { return ReadNumber(p, 0, 1, &d->section.priority); }},
    {"floor", [](const Place& p, Draft* d) { return ReadClamped(p, &d->section.floor); }},
    {"weight",
     [](const Place& p, Draft* d) -> Status {
       DOSSIER_RETURN_IF_ERROR(ReadWhole(p, 0, &d->section.weight));
       d->section.weight = std::min<std::int64_t>(d->section.weight, 1'000'000);
       return {};
     }},
    {"cap", [](const Place& p, Draft* d) { return ReadOptionalWhole(p, &d->section.cap); }},
    {"cap_chars",
     [](const Place& p, Draft* d) { return ReadOptionalWhole(p, &d->section.cap_chars); }},
    {"tokens", [](const Place& p, Draft* d) { return ReadOptionalWhole(p, &d->section.tokens); }},
    {"min", [](const Place& p, Draft* d) { return ReadOptionalWhole(p, &d->section.min); }},
    {"fit", [](const Place& p, Draft* d) { return ReadEnum(p, kFits, &d->section.fit); }},
    {"alternatives",
     [](const Place& p, Draft* d) { return ReadStrings(p, &d->section.alternatives); }},
    {"keep", ReadKeep},
    {"changes", ReadChanges},
    {"when", [](const Place& p, Draft* d) { return ReadString(p, &d->section.when); }},
    {"unless", [](const Place& p, Draft* d) { return ReadString(p, &d->section.unless); }},
    {"render", [](const Place& p, Draft* d) { return ReadEnum(p, kRenders, &d->section.render); }},
    {"before", [](const Place&, Draft*) { return Status(); }},  // read by MergeLayouts
    {"after", [](const Place&, Draft*) { return Status(); }},
};

bool IsSectionName(std::string_view name) {
  if (name.empty() || name.size() > 100 || name[0] < 'a' || name[0] > 'z') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

bool CanHold(Fence fence, Trust trust) {
  if (trust == Trust::kTrusted) return true;
  return fence != Fence::kNone && fence != Fence::kTag && fence != Fence::kHeading;
}

// Defaults that depend on other keys.
void FillDefaults(Draft* draft) {
  LayoutSection& section = draft->section;
  const bool is_system = section.zone == Zone::kSystem || section.zone == Zone::kTools;
  if (!draft->has_role) section.role = is_system ? Role::kSystem : Role::kUser;
  if (!draft->has_trust && IsUntrustedSource(section.source)) section.trust = Trust::kUntrusted;
  if (section.source.empty()) {
    section.source = !section.template_name.empty() ? "template"
                     : !section.text.empty()        ? "text"
                     : !section.variable.empty()    ? "var"
                                                    : "data";
  }
  if (draft->required) {
    section.need = LayoutSection::Need::kRequired;
    section.priority = 1;
  }
  section.missing =
      draft->optional ? LayoutSection::Missing::kIsAllowed : LayoutSection::Missing::kIsAnError;
}

// What is wrong with the section as a whole; empty if nothing.
std::string FindConflict(const Draft& draft) {
  const LayoutSection& section = draft.section;
  if (!IsSectionName(section.name)) {
    return fmt::format("section name '{}' must match [a-z][a-z0-9_]*", section.name);
  }
  const auto of_section = [&](std::string_view what) {
    return fmt::format("section {}: {}", section.name, what);
  };
  if (draft.required && draft.optional)
    return of_section("required and optional exclude each other");
  if (!CanHold(section.fence, section.trust)) {
    return of_section("untrusted text needs fence data, growing or markers");
  }
  if (section.source == "template" && section.template_name.empty()) {
    return of_section("source template needs a template");
  }
  if (section.source == "var" && section.variable.empty()) {
    return of_section("source var needs with: {var: NAME}");
  }
  const bool system_zone = section.zone == Zone::kSystem || section.zone == Zone::kTools;
  if (system_zone != (section.role == Role::kSystem)) {
    return of_section("role system and zone system belong together");
  }
  const bool last = section.zone == Zone::kVolatile || section.zone == Zone::kRequest;
  if (last && section.role != Role::kUser) return of_section("this zone holds user text only");
  if (section.role == Role::kTool) return of_section("role tool comes from turns only");
  return {};
}

}  // namespace

bool IsUntrustedSource(std::string_view source) {
  constexpr std::string_view kUntrusted[] = {"file",   "files",     "command", "environment",
                                             "memory", "resources", "inspect"};
  return std::find(std::begin(kUntrusted), std::end(kUntrusted), source) != std::end(kUntrusted);
}

Result<LayoutSection> ReadSection(const YamlNode& node, std::string_view file) {
  Draft draft;
  draft.section.line = node.line;
  draft.section.column = node.column;
  DOSSIER_RETURN_IF_ERROR(ReadFields<Draft>(node, file, kFields, &draft));
  FillDefaults(&draft);
  if (const std::string conflict = FindConflict(draft); !conflict.empty()) {
    return tl::unexpected(PlaceError(file, node.line, node.column, conflict));
  }
  return std::move(draft.section);
}

}  // namespace dossier::assembly
