#include <map>

#include "assembly/assemble.h"
#include "assembly/layout/front_matter.h"
#include "assembly/layout/layout.h"
#include "assembly/layout/template_scan.h"
#include "assembly/layout/yaml_table.h"
#include "assembly/sources/fence.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

std::vector<std::string> Names(const Template& text) {
  std::vector<std::string> names;
  for (const Placeholder& placeholder : text.placeholders) names.push_back(placeholder.name);
  return names;
}

Placeholder* FindPlaceholder(Template* text, std::string_view name) {
  for (Placeholder& placeholder : text->placeholders) {
    if (placeholder.name == name) return &placeholder;
  }
  return nullptr;
}

Status ReadPlaceholders(const YamlNode& node, Template* out) {
  if (node.kind == YamlNode::Kind::kNull) return {};
  if (node.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(
        PlaceError(out->file, node.line, node.column, "placeholders must be a map"));
  }
  for (const YamlEntry& entry : node.entries) {
    if (ScanName(entry.key, 0) != entry.key.size()) {
      return tl::unexpected(PlaceError(out->file, entry.line, entry.column,
                                       fmt::format("{}: not a name", entry.key)));
    }
    Placeholder placeholder{.name = entry.key};
    if (entry.value.scalar == "optional") {
      placeholder.need = Placeholder::Need::kOptional;
    } else if (entry.value.scalar != "required") {
      return tl::unexpected(
          PlaceError(out->file, entry.value.line, entry.value.column,
                     fmt::format("placeholder {} must be required or optional", entry.key)));
    }
    out->placeholders.push_back(std::move(placeholder));
  }
  return {};
}

Status ReadUntrusted(const YamlNode& node, Template* out) {
  if (node.kind != YamlNode::Kind::kList) {
    return tl::unexpected(
        PlaceError(out->file, node.line, node.column, "untrusted must be a list of names"));
  }
  for (const YamlNode& item : node.items) {
    Placeholder* placeholder = FindPlaceholder(out, item.scalar);
    if (!placeholder) {
      return tl::unexpected(
          PlaceError(out->file, item.line, item.column,
                     "untrusted names " + Guess("unknown placeholder", item.scalar, Names(*out))));
    }
    placeholder->trust = Trust::kUntrusted;
  }
  return {};
}

Status ReadTitles(const YamlNode& node, Template* out) {
  if (node.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(PlaceError(out->file, node.line, node.column, "titles must be a map"));
  }
  for (const YamlEntry& entry : node.entries) {
    Placeholder* placeholder = FindPlaceholder(out, entry.key);
    if (!placeholder) {
      return tl::unexpected(
          PlaceError(out->file, entry.line, entry.column,
                     "titles names " + Guess("unknown placeholder", entry.key, Names(*out))));
    }
    if (TrimSpace(entry.value.scalar).empty() ||
        entry.value.scalar.find('\n') != std::string::npos) {
      return tl::unexpected(PlaceError(out->file, entry.value.line, entry.value.column,
                                       fmt::format("the title of {} must be one line", entry.key)));
    }
    placeholder->title = entry.value.scalar;
  }
  return {};
}

Status ReadBraces(const YamlNode& node, Template* out) {
  if (node.scalar == "literal") {
    out->braces = Template::Braces::kLiteral;
  } else if (node.scalar != "double") {
    return tl::unexpected(
        PlaceError(out->file, node.line, node.column, "braces must be double or literal"));
  }
  return {};
}

Status ReadFrontMatter(std::string_view yaml, Template* out) {
  if (yaml.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(yaml, out->file, {.first_line = 1}));
  if (root.kind == YamlNode::Kind::kNull) return {};
  if (root.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(PlaceError(out->file, root.line, root.column, "bad front matter"));
  }
  const YamlEntry *untrusted = nullptr, *titles = nullptr;
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "placeholders") {
      DOSSIER_RETURN_IF_ERROR(ReadPlaceholders(entry.value, out));
    } else if (entry.key == "braces") {
      DOSSIER_RETURN_IF_ERROR(ReadBraces(entry.value, out));
    } else if (entry.key == "untrusted") {
      untrusted = &entry;
    } else if (entry.key == "titles") {
      titles = &entry;
    } else if (entry.key != "about") {
      const std::vector<std::string> known = {"placeholders", "braces", "untrusted", "titles",
                                              "about"};
      return tl::unexpected(
          PlaceError(out->file, entry.line, entry.column, Guess("unknown key", entry.key, known)));
    }
  }
  if (untrusted) DOSSIER_RETURN_IF_ERROR(ReadUntrusted(untrusted->value, out));
  return titles ? ReadTitles(titles->value, out) : Status();
}

// Returns the text for `value`.
std::string Formatted(const Placeholder& placeholder, std::string_view spec,
                      const std::string& value, std::string_view boundary) {
  if (placeholder.trust == Trust::kUntrusted || spec == "fence") {
    const std::string& title = placeholder.title.empty() ? placeholder.name : placeholder.title;
    return value.empty() ? "" : FenceData(title, value, boundary);
  }
  if (spec == "json") return dossier::ToJson(Json(value));
  const bool digits = !value.empty() && value.size() < 20 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  if (spec == "," && digits) return GroupDigits(std::stoull(value));
  return value;
}

}  // namespace

Status CheckPlaceholders(const Template& text, int body_line) {
  std::map<std::string_view, const Placeholder*> declared;
  for (const Placeholder& placeholder : text.placeholders) {
    declared[placeholder.name] = &placeholder;
  }
  std::map<std::string_view, const Placeholder*> unseen = declared;
  std::optional<Error> error;
  ScanTemplate(text.body, text.braces, [&](const TemplatePiece& piece) {
    if (piece.kind != TemplatePiece::Kind::kPlaceholder || error) return;
    unseen.erase(piece.name);
    const bool known = declared.contains(piece.name);
    if (!known && text.braces == Template::Braces::kLiteral) return;
    const auto before = std::string_view(text.body).substr(0, piece.offset);
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const auto column = static_cast<int>(before.size() - (before.rfind('\n') + 1)) + 1;
    const auto fail = [&](const std::string& message) {
      error = PlaceError(text.file, body_line + line + 1, column, message);
    };
    if (!known) {
      fail(Guess("unknown placeholder", piece.name, Names(text)));
    } else if (!piece.spec.empty() && piece.spec != "," && piece.spec != "json" &&
               piece.spec != "fence") {
      fail(fmt::format("unknown format {{{}:{}}} (known: , json fence)", piece.name, piece.spec));
    }
  });
  if (error) return tl::unexpected(*error);
  for (const auto& [name, placeholder] : unseen) {
    if (placeholder->need == Placeholder::Need::kOptional) continue;
    return tl::unexpected(PlaceError(text.file, body_line + 1, 1,
                                     fmt::format("required placeholder {{{}}} is missing", name)));
  }
  return {};
}

Result<Template> ParseTemplateAgainst(std::string_view markdown, std::string_view file,
                                      const Template* contract) {
  if (markdown.size() > kMaxTemplateBytes) {
    return tl::unexpected(PlaceError(file, 1, 1, "the template is larger than 1 MiB"));
  }
  DOSSIER_ASSIGN_OR_RETURN(const FrontMatter front, SplitFrontMatter(markdown, file));
  Template out{.file = std::string(file)};
  DOSSIER_RETURN_IF_ERROR(ReadFrontMatter(front.yaml, &out));
  if (contract) {
    // The built-in declaration applies to every override; only the kind of braces is its own.
    if (front.body_line == 0) out.braces = contract->braces;
    out.placeholders = contract->placeholders;
  }
  out.body = TrimLineEnds(front.body);
  DOSSIER_RETURN_IF_ERROR(CheckPlaceholders(out, front.body_line));
  return out;
}

Result<Template> ParseTemplate(std::string_view markdown, std::string_view file) {
  return ParseTemplateAgainst(markdown, file, nullptr);
}

Result<std::string> RenderTemplate(const Template& text,
                                   const std::map<std::string, std::string>& values,
                                   std::string_view boundary) {
  std::string out;
  out.reserve(text.body.size());
  std::optional<Error> error;
  ScanTemplate(text.body, text.braces, [&](const TemplatePiece& piece) {
    if (error) return;
    if (piece.kind == TemplatePiece::Kind::kText) {
      out += piece.name;
      return;
    }
    for (const Placeholder& placeholder : text.placeholders) {
      if (placeholder.name != piece.name) continue;
      const auto value = values.find(placeholder.name);
      if (value != values.end()) {
        out += Formatted(placeholder, piece.spec, value->second, boundary);
      } else if (placeholder.need == Placeholder::Need::kRequired) {
        error = Error{ErrorCode::kConfig,
                      fmt::format("{}: {{{}}} has no value", text.file, placeholder.name)};
      }
      return;
    }
    out += std::string_view(text.body).substr(piece.offset, piece.length);
  });
  if (error) return tl::unexpected(std::move(*error));
  return out;
}

std::string Guess(std::string_view what, std::string_view name,
                  std::span<const std::string> known) {
  const std::vector<std::string> nearest = NearestNames(name, known, 1);
  if (nearest.empty()) return fmt::format("{} {}", what, name);
  return fmt::format("{} {} ({}?)", what, name, nearest.front());
}

}  // namespace dossier::assembly
