#include "sources/pack/pack_render.h"

#include "assembly/sources/fence.h"
#include "base/text/text.h"

namespace dossier::sources {
namespace {

std::string EscapeXml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string LanguageWord(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return "";
  const std::string_view ending = path.substr(dot + 1);
  const bool word =
      ending.size() <= 12 && ending.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+-") == std::string_view::npos;
  return word ? std::string(ending) : "";
}

std::string Header(const Rendering& how, std::size_t ticks) {
  const std::string note = how.note.empty() ? "" : fmt::format(" ({})", how.note);
  switch (how.format) {
    case PackFormat::kXml:
      return fmt::format("<file path=\"{}\"{}>\n", EscapeXml(how.path),
                         how.note.empty() ? "" : fmt::format(" shown=\"{}\"", how.note));
    case PackFormat::kMarkdown:
      return fmt::format("## {}{}\n\n{}{}\n", how.path, note, std::string(ticks, '`'),
                         how.note.empty() ? LanguageWord(how.path) : "");
    case PackFormat::kPlain:
      return fmt::format("==> {}{} <==\n", how.path, note);
  }
  return "";
}

}  // namespace

std::string RenderFile(const Rendering& how, std::string_view body) {
  body = assembly::TrimLineEnds(body);
  const std::size_t ticks =
      how.format == PackFormat::kMarkdown ? assembly::GrowingFenceLength(body) : 0;
  const std::string header = Header(how, ticks);
  std::string out;
  out.reserve(header.size() + body.size() + ticks + 16);
  out.append(header).append(body);
  if (!body.empty()) out += '\n';
  if (how.format == PackFormat::kXml) out += "</file>\n";
  if (how.format == PackFormat::kMarkdown) out.append(ticks, '`').append("\n\n");
  if (how.format == PackFormat::kPlain) out += '\n';
  return out;
}

std::string WithLineNumbers(std::string_view body) {
  body = assembly::TrimLineEnds(body);
  std::string out;
  if (body.empty()) return out;
  std::size_t number = 0;
  for (const std::string_view line : Split(body, '\n')) {
    out.append(std::to_string(++number)).append(": ").append(line).append("\n");
  }
  return out;
}

}  // namespace dossier::sources
