#include "agents/git/path_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

// Code points that HFS+ ignores when it compares names, as UTF-8: U+200C to U+200F, U+202A to
// U+202E, U+206A to U+206F, U+FEFF (Apple TN1150, "Unicode Subtleties").
bool IsIgnoredByHfs(std::string_view three) {
  if (three == "\xEF\xBB\xBF") return true;
  if (!three.starts_with("\xE2")) return false;
  const auto second = static_cast<unsigned char>(three[1]);
  const auto third = static_cast<unsigned char>(three[2]);
  if (second == 0x80) return (third >= 0x8C && third <= 0x8F) || (third >= 0xAA && third <= 0xAE);
  return second == 0x81 && third >= 0xAA && third <= 0xAF;
}

std::string WithoutIgnored(std::string_view part) {
  std::string kept;
  for (std::size_t at = 0; at < part.size();) {
    if (at + 3 <= part.size() && IsIgnoredByHfs(part.substr(at, 3))) {
      at += 3;
    } else {
      kept += part[at++];
    }
  }
  return kept;
}

// Returns a name as NTFS reads it: stream names, and blanks and dots at the end, are ignored.
std::string_view NtfsName(std::string_view part) {
  part = part.substr(0, part.find(':'));
  while (part.ends_with('.') || part.ends_with(' ')) part.remove_suffix(1);
  return part;
}

bool IsGitFolder(std::string_view part) {
  const std::string name = ToLowerAscii(WithoutIgnored(part));
  const std::string_view short_name = NtfsName(name);
  return name == ".git" || short_name == ".git" || short_name == "git~1";
}

bool HasControlCharacter(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c == 0x7F) return true;
    if (c == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) {
      return true;
    }
  }
  return false;
}

}  // namespace

const char* PathProblem(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.starts_with('/')) return "the path is absolute";
  if (HasControlCharacter(path)) return "the path holds a control character";
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") return "a part of the path is empty";
    for (const std::string_view name : Split(part, '\\')) {
      if (name == "..") return "the path leaves the tree";
      if (IsGitFolder(name)) return "a part of the path is .git, or reads like it";
    }
  }
  return nullptr;
}

bool LinkStaysInside(std::string_view path, std::string_view target) {
  if (target.empty() || target.starts_with('/')) return false;
  auto depth = std::count(path.begin(), path.end(), '/');
  bool in_names = false;
  for (const std::string_view part : Split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (in_names || --depth < 0) return false;
      continue;
    }
    in_names = true;
    if (PathProblem(part)) return false;
  }
  return true;
}

}  // namespace dossier::agents
