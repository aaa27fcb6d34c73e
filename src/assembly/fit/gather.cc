#include "assembly/fit/gather.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "assembly/sources/data_text.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::assembly {
namespace {

using Values = std::map<std::string, std::string>;

// Adds declared defaults to the given variables, and checks the declarations.
Result<Values> ResolveVariables(const Layout& layout, const Values& given) {
  Values values = given;
  for (const LayoutVariable& variable : layout.vars) {
    if (!values.contains(variable.name) && variable.fallback) {
      values[variable.name] = *variable.fallback;
    }
    const auto found = values.find(variable.name);
    if (found == values.end()) {
      if (variable.need == LayoutVariable::Need::kOptional) continue;
      return MakeError(ErrorCode::kConfig, "layout {}: variable {} has no value", layout.name,
                       variable.name);
    }
    const bool allowed = variable.one_of.empty() ||
                         std::find(variable.one_of.begin(), variable.one_of.end(), found->second) !=
                             variable.one_of.end();
    if (!allowed) {
      return MakeError(ErrorCode::kConfig, "layout {}: variable {} is '{}'; allowed: {}",
                       layout.name, variable.name, found->second, Join(variable.one_of, ", "));
    }
  }
  return values;
}

bool IsSet(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found != values.end() && !found->second.empty();
}

class Gatherer {
 public:
  Gatherer(const Layout& layout, std::span<const Section> sections, const AssembleOptions& options,
           const Values& values)
      : layout_(layout), sections_(sections), options_(options), values_(values) {
    for (const Section& section : sections) given_.emplace(section.name, &section);
    for (const LayoutSection& rule : layout.sections) names_.insert(rule.name);
  }

  Result<GatheredParts> Run() {
    for (std::size_t place = 0; place < layout_.sections.size(); ++place) {
      Part part{.rule = &layout_.sections[place], .place = place};
      DOSSIER_RETURN_IF_ERROR(Fill(&part));
      out_.parts.push_back(std::move(part));
    }
    std::stable_sort(out_.parts.begin(), out_.parts.end(),
                     [](const Part& a, const Part& b) { return a.rule->zone < b.rule->zone; });
    WarnOfUnusedInput();
    if (options_.unused_values == AssembleOptions::Unused::kWarn) WarnOfUnusedValues();
    DOSSIER_RETURN_IF_ERROR(CheckContent());
    return std::move(out_);
  }

 private:
  void Warn(std::string_view code, std::string_view section, std::string text) {
    out_.warnings.push_back({std::string(code), std::string(section), std::move(text)});
  }

  const Section* FindGiven(std::string_view name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : found->second;
  }

  Status Fill(Part* part) {
    const LayoutSection& rule = *part->rule;
    const bool excluded = (!rule.when.empty() && !IsSet(values_, rule.when)) ||
                          (!rule.unless.empty() && IsSet(values_, rule.unless));
    if (excluded) {
      part->outcome = PartOutcome::kAbsent;
      part->reason = "condition";
      return {};
    }
    if (const Section* given = FindGiven(rule.name)) {
      TakeGiven(*given, part);
    } else {
      DOSSIER_RETURN_IF_ERROR(TakeSource(part));
    }
    if (part->outcome != PartOutcome::kAbsent) Finish(part);
    return {};
  }

  void TakeGiven(const Section& given, Part* part) {
    part->provenance = given.provenance;
    part->tools = given.tools;
    part->cut_before = given.cut_before;
    if (!given.parts.empty()) {
      part->blocks = given.parts;
    } else if (!given.turns.empty()) {
      part->turns = given.turns;
    } else if (!given.items.empty()) {
      part->items = given.items;
      part->item_priorities = given.item_priorities;
    } else if (!given.data.is_null()) {
      part->body = Render(given.data, *part->rule);
    } else {
      part->body = given.content;
    }
    part->alternatives = given.alternatives;
  }

  std::string Render(const Json& data, const LayoutSection& rule) {
    if (rule.render == LayoutSection::Render::kJson) return ToPrettyJson(data);
    if (rule.render == LayoutSection::Render::kYaml) return RenderYaml(data);
    std::vector<std::string> left_out;
    std::string text = RenderData(data, &left_out);
    for (const std::string& path : left_out) {
      Warn("empty-value", rule.name, fmt::format("{} is empty and left out", path));
    }
    return text;
  }

  Status TakeSource(Part* part) {
    const LayoutSection& rule = *part->rule;
    part->provenance = JsonObject{{"kind", rule.source}};
    if (rule.source == "text") {
      part->body = rule.text;
      return {};
    }
    if (rule.source == "template") return TakeTemplate(part);
    if (rule.source == "history" || rule.source == "tools") return {};
    if (rule.source == "var") {
      const auto found = values_.find(rule.variable);
      part->provenance = JsonObject{{"kind", "var"}, {"reference", rule.variable}};
      if (found != values_.end()) {
        part->body = found->second;
        return {};
      }
      return Missing(part, fmt::format("variable {} has no value; mark the section optional or "
                                       "give the variable",
                                       rule.variable));
    }
    return Missing(part, "no content was given; mark it optional or give a source");
  }

  Status TakeTemplate(Part* part) {
    const std::string& name = part->rule->template_name;
    const auto found = layout_.templates.find(name);
    if (found == layout_.templates.end()) {
      return Missing(part, fmt::format("template {} not found", name));
    }
    DOSSIER_ASSIGN_OR_RETURN(part->body, RenderTemplate(found->second, values_, options_.boundary));
    part->provenance = JsonObject{{"kind", "template"}, {"reference", found->second.file}};
    return {};
  }

  static Status Missing(Part* part, std::string_view why) {
    if (part->rule->missing == LayoutSection::Missing::kIsAllowed &&
        part->rule->need == LayoutSection::Need::kOptional) {
      part->outcome = PartOutcome::kAbsent;
      part->reason = "no-content";
      return {};
    }
    return MakeError(ErrorCode::kNotFound, "section {}: {}", part->rule->name, why);
  }

  // Providers would refuse or garble NUL and invalid UTF-8.
  void Clean(std::string* text, const std::string& section) {
    const std::size_t nul = text->find('\0');
    if (nul == std::string::npos && utf8::IsValid(*text)) return;
    std::size_t at = 0;
    while (at < text->size() && at != nul) {
      std::size_t next = at;
      const bool replaced = utf8::Next(*text, &next) == U'\uFFFD';
      if (replaced && text->compare(at, next - at, "\xEF\xBF\xBD") != 0) break;
      at = next;
    }
    Warn("invalid-utf8", section,
         fmt::format("section {}: byte {} is not valid text; U+FFFD stands for it", section, at));
    *text = utf8::Sanitize(ReplaceAll(*text, std::string_view("\0", 1), "\xEF\xBF\xBD"));
  }

  void Finish(Part* part) {
    const LayoutSection& rule = *part->rule;
    for (Block& block : part->blocks) {
      if (block.type != Block::Type::kImage) Clean(&block.text, rule.name);
      if (block.section.empty()) block.section = rule.name;
    }
    for (Turn& turn : part->turns) {
      for (Block& block : turn.blocks) {
        Clean(&block.text, rule.name);
        if (block.section.empty()) block.section = rule.name;
      }
    }
    // Done before any cut, so that a cut counts the bytes that are sent.
    const auto escape = [&](std::string* text) {
      if (rule.fence == FenceKind::kMarkers) *text = EscapeMarkers(*text);
    };
    for (std::string& item : part->items) {
      Clean(&item, rule.name);
      item = TrimLineEnds(item);
      escape(&item);
    }
    for (auto& [name, text] : part->alternatives) {
      Clean(&text, rule.name);
      escape(&text);
    }
    if (!part->items.empty()) part->body = Join(part->items, "\n");
    Clean(&part->body, rule.name);
    part->body.resize(TrimLineEnds(part->body).size());
    if (!part->cut_before.empty()) {
      Warn("source-limit", rule.name, part->cut_before);
      if (!part->body.empty() && part->items.empty()) part->body += "\n" + part->cut_before;
    }
    if (part->items.empty()) escape(&part->body);
    const bool empty =
        part->body.empty() && part->turns.empty() && part->tools.empty() && part->blocks.empty();
    if (empty) {
      part->outcome = PartOutcome::kEmpty;
      part->reason = "no-content";
      return;
    }
    if (part->turns.empty() && part->blocks.empty()) part->frame = MakeFrame(*part);
  }

  FenceFrame MakeFrame(const Part& part) const {
    const LayoutSection& rule = *part.rule;
    FenceFrame frame{.fence = rule.fence,
                     .title = rule.title.empty() ? rule.name : rule.title,
                     .name = rule.name};
    if (frame.fence == FenceKind::kDefault) {
      frame.fence = rule.trust == Trust::kUntrusted ? FenceKind::kData : FenceKind::kNone;
    }
    if (frame.fence == FenceKind::kData) {
      std::string all = part.body;
      for (const auto& [name, text] : part.alternatives) all += text;
      frame.boundary = FreeBoundary(all, options_.boundary, options_.boundary_seed);
    }
    if (frame.fence == FenceKind::kGrowing) {
      frame.backticks = GrowingFenceLength(part.body);
      for (const auto& [name, text] : part.alternatives) {
        frame.backticks = std::max(frame.backticks, GrowingFenceLength(text));
      }
    }
    return frame;
  }

  void WarnOfUnusedInput() {
    for (const Section& section : sections_) {
      if (!names_.contains(section.name)) {
        Warn("unknown-section", section.name,
             fmt::format("the layout has no section {}: its content is not used", section.name));
      }
    }
  }

  void WarnOfUnusedValues() {
    std::set<std::string> used;
    for (const LayoutSection& rule : layout_.sections) {
      used.insert({rule.variable, rule.when, rule.unless});
    }
    for (const auto& [name, text] : layout_.templates) {
      for (const Placeholder& placeholder : text.placeholders) used.insert(placeholder.name);
    }
    for (const auto& [name, value] : options_.variables) {
      if (used.contains(name)) continue;
      Warn("unused-value", "",
           fmt::format("nothing in layout {} uses the value {}", layout_.name, name));
    }
  }

  static bool HasUserText(const Part& part) {
    if (!part.present() || part.rule->role != Role::kUser) return false;
    if (!part.blocks.empty()) return true;
    if (part.turns.empty()) return !part.body.empty();
    return std::any_of(part.turns.begin(), part.turns.end(),
                       [](const Turn& turn) { return turn.role == Role::kUser; });
  }

  Status CheckContent() const {
    if (std::none_of(out_.parts.begin(), out_.parts.end(), HasUserText)) {
      return MakeError(ErrorCode::kUsage, "nothing to ask: the request zone is empty");
    }
    for (const Part& part : out_.parts) {
      if (part.outcome == PartOutcome::kEmpty &&
          part.rule->need == LayoutSection::Need::kRequired) {
        return MakeError(ErrorCode::kNotFound,
                         "section {}: it is required, and its content is empty", part.rule->name);
      }
    }
    return {};
  }

  const Layout& layout_;
  std::span<const Section> sections_;
  const AssembleOptions& options_;
  const Values& values_;
  std::unordered_map<std::string_view, const Section*> given_;  // the first one with a name
  std::unordered_set<std::string_view> names_;                  // of the layout's sections
  GatheredParts out_;
};

}  // namespace

Result<GatheredParts> Gather(const Layout& layout, std::span<const Section> sections,
                             const AssembleOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const Values values, ResolveVariables(layout, options.variables));
  return Gatherer(layout, sections, options, values).Run();
}

}  // namespace dossier::assembly
