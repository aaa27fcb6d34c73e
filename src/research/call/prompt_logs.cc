#include "research/call/prompt_logs.h"

#include <map>

#include "assembly/fit/prompt_log.h"
#include "assembly/sources/fence.h"
#include "base/files/append_file.h"
#include "base/files/file.h"
#include "base/text/redact.h"

namespace dossier::research {
namespace {

// Redacts all texts inside `value`; most contain no secret.
void RedactAll(Json& value) {
  if (const auto* text = value.if_string()) {
    const std::string_view all(text->data(), text->size());
    const std::vector<Secret> secrets = FindSecrets(all);
    if (!secrets.empty()) value = Redact(all, secrets);
  } else if (auto* object = value.if_object()) {
    for (auto&& member : *object) RedactAll(member.value());
  } else if (auto* array = value.if_array()) {
    for (Json& element : *array) RedactAll(element);
  }
}

std::string RedactedJson(const JsonObject& object) {
  Json value(object);
  RedactAll(value);
  return ToPrettyJson(value) + "\n";
}

// Returns the text of each section in the prompt, by name; images are only named.
std::map<std::string, std::string> TextsOf(const assembly::Messages& messages) {
  std::map<std::string, std::string> texts;
  const auto add = [&](const assembly::Block& block) {
    std::string& text = texts[block.section];
    if (!text.empty()) text += "\n\n";
    text += block.type == assembly::Block::Type::kImage
                ? fmt::format("[image {}{}]", block.media_type, block.url)
                : block.text;
  };
  for (const assembly::Block& block : messages.system) add(block);
  for (const assembly::Turn& turn : messages.turns) {
    for (const assembly::Block& block : turn.blocks) add(block);
  }
  return texts;
}

// [{name, zone, text, report}], in the order of the report.
JsonArray SectionsOf(const assembly::Assembled& prompt) {
  JsonArray sections;
  const std::map<std::string, std::string> texts = TextsOf(prompt.messages);
  const Json* reported = Find(prompt.report, "sections");
  if (!reported || !reported->is_array()) return sections;
  for (const Json& report : reported->get_array()) {
    const std::string name = TextAt(report, "name");
    const auto text = texts.find(name);
    JsonObject& section = sections.emplace_back(JsonObject()).get_object();
    section["name"] = name;
    section["zone"] = FindString(report, "zone").value_or("");
    section["text"] = text == texts.end() ? "" : std::string_view(text->second);
    section["report"] = report;
  }
  return sections;
}

// Image data is in the store, with the request.
Json TurnsWithoutImages(const assembly::Messages& messages) {
  assembly::Messages shown{.turns = messages.turns};
  for (assembly::Turn& turn : shown.turns) {
    for (assembly::Block& block : turn.blocks) {
      if (block.type == assembly::Block::Type::kImage && !block.text.empty()) {
        block.text = fmt::format("({} bytes of base64)", block.text.size());
      }
    }
  }
  Json all = ToCanonicalJson(shown);
  return std::move(all.get_object()["turns"]);
}

std::string AsMarkdown(const std::string& name, const JsonArray& sections) {
  std::string out = "# " + name + "\n";
  for (const Json& section : sections) {
    const std::string_view text = *FindString(section, "text");
    if (text.empty()) continue;
    const std::string fence(assembly::GrowingFenceLength(text), '`');
    out += fmt::format("\n## {} ({})\n\n{}\n{}\n{}\n", *FindString(section, "name"),
                       *FindString(section, "zone"), fence, text, fence);
  }
  return out;
}

}  // namespace

std::string PromptLogs::NameOf(const PromptEntry& entry) {
  return fmt::format("{:04}_{}_a{}_r{}", entry.counter, assembly::SafeFileName(entry.label),
                     entry.attempt, entry.round);
}

std::string PromptLogs::FolderOf(std::string_view node) {
  if (node.empty()) return "logs/prompt_logs";
  return fmt::format("logs/phase_logs/node_{}/prompt_logs", assembly::SafeFileName(node));
}

Status PromptLogs::Create(const PromptEntry& entry, std::string_view ending,
                          std::string_view content) {
  const std::string folder = fmt::format("{}/{}", run_folder_, FolderOf(entry.node));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
  const Status made = assembly::CreateWhole(fmt::format("{}/{}_{}", folder, NameOf(entry), ending),
                                            content, Durability::kSurvivesCrash);
  if (!made && made.error().code == ErrorCode::kLocked) return {};
  return made;
}

Status PromptLogs::WritePrompt(const PromptEntry& entry, const assembly::Assembled& prompt,
                               JsonObject parts) {
  JsonObject meta = entry.meta;
  meta["label"] = entry.label;
  meta["counter"] = entry.counter;
  meta["attempt"] = entry.attempt;
  meta["round"] = entry.round;
  meta["tokens"] = prompt.tokens;
  JsonObject file;
  file["meta"] = std::move(meta);
  file["sections"] = SectionsOf(prompt);
  file["system"] = prompt.messages.SystemText();
  file["messages"] = TurnsWithoutImages(prompt.messages);
  for (auto& part : parts) file[part.key()] = std::move(part.value());
  Json clean(std::move(file));
  RedactAll(clean);
  DOSSIER_RETURN_IF_ERROR(
      Create(entry, "prompt.md", AsMarkdown(NameOf(entry), Find(clean, "sections")->get_array())));
  return Create(entry, "prompt.json", ToPrettyJson(clean) + "\n");
}

Status PromptLogs::WriteReply(const PromptEntry& entry, const JsonObject& reply,
                              std::string_view text) {
  DOSSIER_RETURN_IF_ERROR(Create(entry, "response.txt", Redact(text)));
  return Create(entry, "response.json", RedactedJson(reply));
}

Status PromptLogs::WriteOperations(const PromptEntry& entry, const JsonObject& operations) {
  return Create(entry, "memory_ops.json", RedactedJson(operations));
}

Status PromptLogs::Alias(const PromptEntry& entry, std::string_view alias) {
  const std::string folder = fmt::format("{}/{}", run_folder_, FolderOf(entry.node));
  for (const std::string_view ending : {".json", ".md"}) {
    DOSSIER_RETURN_IF_ERROR(
        assembly::PointAlias(folder, assembly::SafeFileName(alias) + std::string(ending),
                             fmt::format("{}_prompt{}", NameOf(entry), ending)));
  }
  return {};
}

Status PromptLogs::Append(std::string_view name, const JsonObject& line) {
  const std::string folder = run_folder_ + "/logs/memory";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string path = fmt::format("{}/{}", folder, name);
  const std::lock_guard lock(append_);
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForAppend(path, 0600));
  Json clean(line);
  RedactAll(clean);
  return WriteAll(fd.get(), ToJson(clean) + "\n");
}

}  // namespace dossier::research
