#include "assembly/layout/layout.h"

#include <array>
#include <string>
#include <string_view>

#include "assembly/layout/layout_reader.h"
#include "assembly/layout/yaml_fields.h"
#include "assembly/layout/yaml_table.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

// Reads one section of a layout file from its node.

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 40;

// The values in the file, and which ones are set: defaults depend on other keys.
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
using Filled = SectionSource::Filled;
constexpr SectionSource kSources[] = {
    {"text", Trust::kTrusted, Filled::kByLayout},
    {"file", Trust::kUntrusted, Filled::kByPath},
    {"files", Trust::kUntrusted, Filled::kByReader},
    {"command", Trust::kUntrusted, Filled::kByMaker},
    {"header", Trust::kUntrusted, Filled::kByMaker},  // it quotes the repository
    {"environment", Trust::kUntrusted, Filled::kByMaker},
    {"memory", Trust::kUntrusted, Filled::kByMaker},
    {"resources", Trust::kUntrusted, Filled::kByPath},
    {"history", Trust::kTrusted, Filled::kByDriver},
    {"inspect", Trust::kUntrusted, Filled::kByReader},
    {"var", Trust::kTrusted, Filled::kByLayout},
    {"template", Trust::kTrusted, Filled::kByLayout},
    {"data", Trust::kTrusted, Filled::kByDriver},
    {"tools", Trust::kTrusted, Filled::kByDriver},
};
constexpr std::array<std::string_view, 4> kChanges = {"never", "run", "turn", "call"};
constexpr std::array<std::string_view, 2> kBoundaries = {"run", "project"};
constexpr std::array<std::string_view, 2> kTrusts = {"trusted", "untrusted"};
constexpr std::array<std::string_view, 3> kRenders = {"markdown", "json", "yaml"};

Status ReadShare(const Place& at, double* out) { return ReadNumber(at, 0, 1, out); }

template <std::int64_t kLeast, std::int64_t kMost>
Status ReadClamped(const Place& at, std::int64_t* out) {
  DOSSIER_RETURN_IF_ERROR(ReadWhole(at, kLeast, out));
  *out = std::min(*out, kMost);
  return {};
}

Status ReadSource(const Place& at, Draft* out) {
  std::vector<std::string_view> names;
  for (const SectionSource& source : kSources) names.push_back(source.name);
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, names, &index));
  out->section.source = names[index];
  return {};
}

Status ReadChanges(const Place& at, Draft* out) {
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, kChanges, &index));
  out->section.changes = kChanges[index];
  return {};
}

// `with` belongs to the source; keys not read here are for whoever provides the content.
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
  static constexpr YamlField<LayoutSection> kKeep[] = {
      {"ratio", Into<ReadShare, &LayoutSection::keep_ratio>},
      {"turns",
       [](const Place& p, LayoutSection* s) -> Status {
         std::int64_t turns = 0;
         DOSSIER_RETURN_IF_ERROR(ReadWhole(p, 0, &turns));
         s->keep_turns = static_cast<int>(std::min<std::int64_t>(turns, 1 << 20));
         return {};
       }},
      {"drop_to", Into<ReadShare, &LayoutSection::drop_to>},
  };
  return ReadFields<LayoutSection>(at.value, at.file, kKeep, &out->section);
}

constexpr YamlField<Draft> kSectionFields[] = {
    {"name", Into<ReadString, &Draft::section, &LayoutSection::name>},
    {"zone", Into<ReadWordOf<kZones>, &Draft::section, &LayoutSection::zone>},
    {"role",
     [](const Place& p, Draft* d) {
       d->has_role = true;
       return ReadWordOf<kRoles>(p, &d->section.role);
     }},
    {"source", ReadSource},
    {"with", ReadWith},
    {"template", Into<ReadString, &Draft::section, &LayoutSection::template_name>},
    {"text", Into<ReadString, &Draft::section, &LayoutSection::text>},
    {"var", Into<ReadString, &Draft::section, &LayoutSection::variable>},
    {"title", Into<ReadString, &Draft::section, &LayoutSection::title>},
    {"fence", Into<ReadWordOf<kFences>, &Draft::section, &LayoutSection::fence>},
    {"trust",
     [](const Place& p, Draft* d) {
       d->has_trust = true;
       return ReadWordOf<kTrusts>(p, &d->section.trust);
     }},
    {"required", Into<ReadFlag, &Draft::required>},
    {"optional", Into<ReadFlag, &Draft::optional>},
    {"priority", Into<ReadShare, &Draft::section, &LayoutSection::priority>},
    {"floor", Into<ReadClamped<0, kMaxTokens>, &Draft::section, &LayoutSection::floor>},
    {"weight", Into<ReadClamped<0, 1'000'000>, &Draft::section, &LayoutSection::weight>},
    {"cap", Into<ReadClamped<1, kMaxTokens>, &Draft::section, &LayoutSection::cap>},
    {"cap_chars", Into<ReadClamped<1, kMaxTokens>, &Draft::section, &LayoutSection::cap_chars>},
    {"tokens", Into<ReadClamped<1, kMaxTokens>, &Draft::section, &LayoutSection::tokens>},
    {"min", Into<ReadClamped<1, kMaxTokens>, &Draft::section, &LayoutSection::min>},
    {"fit", Into<ReadWordOf<kFits>, &Draft::section, &LayoutSection::fit>},
    {"alternatives", Into<ReadStrings, &Draft::section, &LayoutSection::alternatives>},
    {"keep", ReadKeep},
    {"changes", ReadChanges},
    {"when", Into<ReadString, &Draft::section, &LayoutSection::when>},
    {"unless", Into<ReadString, &Draft::section, &LayoutSection::unless>},
    {"render", Into<ReadWordOf<kRenders>, &Draft::section, &LayoutSection::render>},
    {"before", [](const Place&, Draft*) { return Status(); }},  // read by MergeLayouts
    {"after", [](const Place&, Draft*) { return Status(); }},
};

bool IsSectionName(std::string_view name) {
  if (name.empty() || name.size() > 100 || name[0] < 'a' || name[0] > 'z') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

bool CanHold(FenceKind fence, Trust trust) {
  if (trust == Trust::kTrusted) return true;
  return fence != FenceKind::kNone && fence != FenceKind::kTag && fence != FenceKind::kHeading;
}

// Sets defaults that depend on other keys.
void FillDefaults(Draft* draft) {
  LayoutSection& section = draft->section;
  const bool is_system = section.zone == Zone::kSystem || section.zone == Zone::kTools;
  if (!draft->has_role) section.role = is_system ? Role::kSystem : Role::kUser;
  const SectionSource* source = FindSectionSource(section.source);
  if (!draft->has_trust && source) section.trust = source->trust;
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

// Returns what is wrong with the section as a whole; empty if nothing.
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

// Reads and checks the section that `node` describes. Thread-safety: pure. Errors: kConfig,
// "FILE:LINE:COL: reason", with the nearest valid name for an unknown one.
Result<LayoutSection> ReadSection(const YamlNode& node, std::string_view file) {
  Draft draft;
  draft.section.line = node.line;
  draft.section.column = node.column;
  DOSSIER_RETURN_IF_ERROR(ReadFields<Draft>(node, file, kSectionFields, &draft));
  FillDefaults(&draft);
  if (const std::string conflict = FindConflict(draft); !conflict.empty()) {
    return tl::unexpected(PlaceError(file, node.line, node.column, conflict));
  }
  return std::move(draft.section);
}

using Place = FieldPlace;

Status ReadSchema(const Place& at, LayoutFile*) {
  if (at.value.scalar == "dossier.layout/1") return {};
  return at.Fail(fmt::format("schema {} is not dossier.layout/1", at.value.scalar));
}

Status ReadBudget(const Place& at, LayoutFile* out) {
  static constexpr YamlField<Layout> kBudget[] = {
      {"window_share", Into<ReadShare, &Layout::window_share>},
      {"tokens", Into<ReadWholeFrom<1>, &Layout::budget_tokens>},
      {"reserve_output", Into<ReadWholeFrom<0>, &Layout::reserve_output>},
      {"cascade", Into<ReadStrings, &Layout::cascade>},
  };
  return ReadFields<Layout>(at.value, at.file, kBudget, &out->layout);
}

Status ReadLifetime(const Place& at, std::string* out) {
  DOSSIER_RETURN_IF_ERROR(ReadString(at, out));
  if (ParseDuration(*out)) return {};
  return at.Fail(fmt::format("{} is no lifetime; write 5m or 1h", *out));
}

// Reads one lifetime for all zones, or a map of them.
Status ReadLifetimes(const Place& at, LayoutCache* out) {
  static constexpr YamlField<LayoutCache> kZones[] = {
      {"system", Into<ReadLifetime, &LayoutCache::system_ttl>},
      {"stable", Into<ReadLifetime, &LayoutCache::stable_ttl>},
      {"history", Into<ReadLifetime, &LayoutCache::history_ttl>},
  };
  if (at.value.kind == YamlNode::Kind::kMap) {
    return ReadFields<LayoutCache>(at.value, at.file, kZones, out);
  }
  DOSSIER_RETURN_IF_ERROR(ReadLifetime(at, &out->system_ttl));
  out->stable_ttl = out->history_ttl = out->system_ttl;
  return {};
}

Status ReadCache(const Place& at, LayoutFile* out) {
  using WarmFirst = LayoutCache::WarmFirst;
  static constexpr YamlField<LayoutCache> kCache[] = {
      {"ttl", ReadLifetimes},
      {"warm_first", Into<ReadFlagAs<WarmFirst::kYes, WarmFirst::kNo>, &LayoutCache::warm_first>},
  };
  return ReadFields<LayoutCache>(at.value, at.file, kCache, &out->layout.cache);
}

Status ReadVariable(const Place& at, LayoutVariable* out) {
  using Need = LayoutVariable::Need;
  static constexpr YamlField<LayoutVariable> kVariable[] = {
      {"required", Into<ReadFlagAs<Need::kRequired, Need::kOptional>, &LayoutVariable::need>},
      {"default", Into<ReadString, &LayoutVariable::fallback>},
      {"one_of", Into<ReadStrings, &LayoutVariable::one_of>},
  };
  if (at.value.kind == YamlNode::Kind::kNull) return {};
  return ReadFields<LayoutVariable>(at.value, at.file, kVariable, out);
}

Status ReadVars(const Place& at, LayoutFile* out) {
  if (at.value.kind != YamlNode::Kind::kMap) return at.Fail("vars must be a map of names");
  for (const YamlEntry& entry : at.value.entries) {
    LayoutVariable variable{.name = entry.key};
    DOSSIER_RETURN_IF_ERROR(ReadVariable({at.file, entry.key, entry.value}, &variable));
    out->layout.vars.push_back(std::move(variable));
  }
  return {};
}

Status ReadExtends(const Place& at, LayoutFile* out) {
  out->extends_line = at.value.line;
  out->extends_column = at.value.column;
  return ReadString(at, &out->extends);
}

Status ReadEntry(const Place& at, LayoutFile* out) {
  if (at.value.kind != YamlNode::Kind::kMap) return at.Fail("a section must be a map of keys");
  SectionEntry section{.node = at.value};
  for (const YamlEntry& entry : at.value.entries) {
    const Place inner{at.file, entry.key, entry.value};
    if (entry.key == "name") DOSSIER_RETURN_IF_ERROR(ReadString(inner, &section.name));
    if (entry.key == "before") DOSSIER_RETURN_IF_ERROR(ReadString(inner, &section.before));
    if (entry.key == "after") DOSSIER_RETURN_IF_ERROR(ReadString(inner, &section.after));
  }
  if (section.name.empty()) return at.Fail("a section needs a name");
  for (const SectionEntry& other : out->sections) {
    if (other.name == section.name) {
      return at.Fail(
          fmt::format("duplicate section {} (first on line {})", other.name, other.node.line));
    }
  }
  out->sections.push_back(std::move(section));
  return {};
}

Status ReadEntries(const Place& at, LayoutFile* out) {
  if (at.value.kind != YamlNode::Kind::kList) return at.Fail("sections must be a list");
  for (const YamlNode& item : at.value.items) {
    DOSSIER_RETURN_IF_ERROR(ReadEntry({at.file, "sections", item}, out));
  }
  return {};
}

constexpr YamlField<LayoutFile> kLayoutFields[] = {
    {"schema", ReadSchema},
    {"name", Into<ReadString, &LayoutFile::layout, &Layout::name>},
    {"about", Into<ReadString, &LayoutFile::layout, &Layout::about>},
    {"extends", ReadExtends},
    {"vars", ReadVars},
    {"budget", ReadBudget},
    {"cache", ReadCache},
    {"boundary", Into<ReadWordOf<kBoundaries>, &LayoutFile::layout, &Layout::boundary>},
    {"lead", Into<ReadString, &LayoutFile::layout, &Layout::lead>},
    {"remove", Into<ReadStrings, &LayoutFile::remove>},
    {"sections", ReadEntries},
};

std::vector<std::string> SectionNames(const std::vector<SectionEntry>& sections) {
  std::vector<std::string> names;
  for (const SectionEntry& section : sections) names.push_back(section.name);
  return names;
}

std::vector<SectionEntry>::iterator FindEntry(std::vector<SectionEntry>* sections,
                                              std::string_view name) {
  return std::find_if(sections->begin(), sections->end(),
                      [&](const SectionEntry& entry) { return entry.name == name; });
}

// Keys of `over` replace those of `base`.
void OverlayEntries(YamlNode* base, const YamlNode& over) {
  for (const YamlEntry& entry : over.entries) {
    const auto found = std::find_if(base->entries.begin(), base->entries.end(),
                                    [&](const YamlEntry& old) { return old.key == entry.key; });
    if (found == base->entries.end()) {
      base->entries.push_back(entry);
    } else {
      *found = entry;
    }
  }
}

Status PlaceEntry(SectionEntry entry, std::string_view file, std::vector<SectionEntry>* sections) {
  const std::string& beside = entry.before.empty() ? entry.after : entry.before;
  auto at = sections->end();
  if (!beside.empty()) {
    at = FindEntry(sections, beside);
    if (at == sections->end()) {
      return tl::unexpected(PlaceError(file, entry.node.line, entry.node.column,
                                       Guess("unknown section", beside, SectionNames(*sections))));
    }
    if (entry.before.empty()) ++at;
  }
  sections->insert(at, std::move(entry));
  return {};
}

void OverlayTop(Layout* base, const LayoutFile& over) {
  const Layout& top = over.layout;
  base->name = top.name;
  base->file = top.file;
  base->sha256 = Sha256Hex(base->sha256 + top.sha256);  // of everything it is made from
  base->overrides.insert(base->overrides.end(), top.overrides.begin(), top.overrides.end());
  if (over.keys.contains("about")) base->about = top.about;
  if (over.keys.contains("lead")) base->lead = top.lead;
  if (over.keys.contains("cache")) base->cache = top.cache;
  if (over.keys.contains("boundary")) base->boundary = top.boundary;
  if (over.keys.contains("budget")) {
    base->window_share = top.window_share;
    base->budget_tokens = top.budget_tokens;
    base->reserve_output = top.reserve_output;
    base->cascade = top.cascade;
  }
  for (const LayoutVariable& variable : top.vars) {
    std::erase_if(base->vars, [&](const LayoutVariable& old) { return old.name == variable.name; });
    base->vars.push_back(variable);
  }
}

}  // namespace

std::span<const SectionSource> SectionSources() { return kSources; }

const SectionSource* FindSectionSource(std::string_view name) {
  const auto* found = std::ranges::find(kSources, name, &SectionSource::name);
  return found == std::end(kSources) ? nullptr : found;
}

Result<LayoutFile> ReadLayoutFile(std::string_view yaml, std::string_view file) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(yaml, file));
  LayoutFile out;
  out.layout.file = file;
  out.layout.sha256 = Sha256Hex(yaml);
  DOSSIER_RETURN_IF_ERROR(ReadFields<LayoutFile>(root, file, kLayoutFields, &out));
  for (const YamlEntry& entry : root.entries) out.keys.insert(entry.key);
  if (out.sections.empty() && out.extends.empty()) {
    return tl::unexpected(PlaceError(file, root.line, root.column, "a layout needs sections"));
  }
  return out;
}

Result<LayoutFile> MergeLayouts(LayoutFile base, LayoutFile over) {
  const std::string& file = over.layout.file;
  for (const std::string& name : over.remove) {
    const auto found = FindEntry(&base.sections, name);
    if (found == base.sections.end()) {
      return tl::unexpected(
          PlaceError(file, over.extends_line, over.extends_column,
                     "remove: " + Guess("unknown section", name, SectionNames(base.sections))));
    }
    base.sections.erase(found);
  }
  for (SectionEntry& entry : over.sections) {
    const auto found = FindEntry(&base.sections, entry.name);
    if (found == base.sections.end()) {
      DOSSIER_RETURN_IF_ERROR(PlaceEntry(std::move(entry), file, &base.sections));
    } else {
      OverlayEntries(&found->node, entry.node);
    }
  }
  OverlayTop(&base.layout, over);
  return base;
}

Result<Layout> FinishLayout(LayoutFile file) {
  Layout layout = std::move(file.layout);
  for (const SectionEntry& entry : file.sections) {
    DOSSIER_ASSIGN_OR_RETURN(LayoutSection section, ReadSection(entry.node, layout.file));
    layout.sections.push_back(std::move(section));
  }
  for (const std::string& name : layout.cascade) {
    if (FindEntry(&file.sections, name) == file.sections.end()) {
      return tl::unexpected(PlaceError(
          layout.file, 1, 1,
          "budget.cascade: " + Guess("unknown section", name, SectionNames(file.sections))));
    }
  }
  return layout;
}

Result<Layout> ParseLayout(std::string_view yaml, std::string_view file) {
  DOSSIER_ASSIGN_OR_RETURN(LayoutFile read, ReadLayoutFile(yaml, file));
  if (!read.extends.empty()) {
    return tl::unexpected(PlaceError(file, read.extends_line, read.extends_column,
                                     "extends is resolved only for layouts found by name"));
  }
  return FinishLayout(std::move(read));
}

}  // namespace dossier::assembly
