#include "cli/chat/preset.h"

#include <algorithm>
#include <filesystem>

#include "assembly/layout/front_matter.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/net/url.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "cli/wiring/model_flags.h"
#include "sources/commands/command_text.h"
#include "sources/template/template_render.h"

namespace dossier::cli {
namespace {

constexpr std::uint64_t kMaxPreset = 1 << 20;  // bytes
constexpr std::string_view kEnding = ".md";

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kEnding) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<Preset> ReadPreset(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(path, kMaxPreset));
  if (!utf8::IsValid(text)) return MakeError(ErrorCode::kUsage, "{} is not UTF-8", path);
  DOSSIER_ASSIGN_OR_RETURN(const assembly::FrontMatter front,
                           assembly::SplitFrontMatter(text, path));
  Preset preset{.text = std::string(TrimSpace(front.body)), .model = {}, .temperature = {}};
  if (front.yaml.empty()) return preset;
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(front.yaml, path, {.first_line = 1}));
  const Json keys = ToJsonValue(root);
  if (!keys.is_object())
    return MakeError(ErrorCode::kConfig, "{}: its front matter is no map", path);
  for (const auto& [key, value] : keys.get_object()) {
    if (key == "model" && value.is_string()) {
      preset.model = std::string(value.get_string());
    } else if (key == "temperature" && value.is_number()) {
      preset.temperature = FindNumber(keys, "temperature");
    } else {
      return MakeError(ErrorCode::kConfig,
                       "{}: '{}' is not known in front matter, or its value is not; known are "
                       "model (a name) and temperature (a number)",
                       path, std::string_view(key));
    }
  }
  return preset;
}

}  // namespace

Result<Preset> FindPreset(std::string_view kind, const std::string& name,
                          const std::string& config_folder) {
  if (name.find('/') != name.npos) return ReadPreset(name);
  const std::string folder = fmt::format("{}/{}", config_folder, kind);
  const std::string path = fmt::format("{}/{}{}", folder, name, kEnding);
  if (Exists(path)) return ReadPreset(path);
  const std::vector<std::string> names = NamesIn(folder);
  return MakeError(ErrorCode::kNotFound, "no {}.md in {}; there {} {}{}", name, folder,
                   names.size() == 1 ? "is" : "are", names.empty() ? "none" : Join(names, ", "),
                   DidYouMean(name, names));
}

Status KeepPreset(std::string_view kind, const std::string& name, std::string_view text,
                  const std::string& config_folder) {
  const std::string folder = fmt::format("{}/{}", config_folder, kind);
  const std::string path = fmt::format("{}/{}{}", folder, name, kEnding);
  if (name.find('/') != name.npos) {
    return MakeError(ErrorCode::kUsage, "{} is a path; a text is kept under a plain name", name);
  }
  if (Exists(path)) {
    DOSSIER_ASSIGN_OR_RETURN(const Preset kept, ReadPreset(path));
    if (kept.text == TrimSpace(text)) return {};
    return MakeError(ErrorCode::kUsage,
                     "{} holds another text; change that file, or take another name", path);
  }
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteFileAtomic(path, fmt::format("{}\n", text));
}

Result<std::string> FillTemplate(std::string_view text, std::string input,
                                 const std::vector<std::string>& variables) {
  DOSSIER_ASSIGN_OR_RETURN(sources::TemplateVariables values,
                           sources::ResolveVariables({.given = variables}));
  // The output shows whether the template uses `input`, whatever it does with it.
  const std::string mark = "\x01\x02\x01";
  values["input"] = {sources::TemplateValue(std::string_view(mark)),
                     sources::VariableOrigin::kCommandLine};
  DOSSIER_ASSIGN_OR_RETURN(const std::string marked, sources::RenderTemplate(text, values));
  values["input"] = {sources::TemplateValue(std::string_view(input)),
                     sources::VariableOrigin::kCommandLine};
  DOSSIER_ASSIGN_OR_RETURN(std::string filled, sources::RenderTemplate(text, values));
  if (marked.find(mark) != marked.npos || input.empty()) return filled;
  return filled + "\n\n" + input;
}

}  // namespace dossier::cli
