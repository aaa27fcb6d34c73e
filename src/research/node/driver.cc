#include "research/node/driver.h"

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

std::string ArtefactKey(std::string_view path, std::string_view content) {
  return fmt::format("{}@{}", path, Sha256Hex(content).substr(0, 16));
}

}  // namespace

bool Skips(const RunOrder& order, RunOrder::Skip what) {
  return std::find(order.skip.begin(), order.skip.end(), what) != order.skip.end();
}

PrefixSections CallPrefix(const Driver& driver) {
  PrefixSections prefix = driver.prefix;
  prefix.resources = driver.services.resources[static_cast<std::size_t>(Phase::kRun)];
  return prefix;
}

std::string WorkspaceOf(const Driver& driver, std::string_view node) {
  return driver.services.run_folder + "/" + run_files::Workspace(node);
}

Status KeepWarning(const Driver& driver, std::string_view place, std::string warning) {
  const std::string key = fmt::format("{}/{}", place, Sha256Hex(warning).substr(0, 16));
  if (driver.log().Has("warning", key)) return {};
  return driver.log().Add("warning", key, {{"node", place}, {"text", std::move(warning)}});
}

Status KeepWarnings(const Driver& driver, std::string_view place,
                    std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    DOSSIER_RETURN_IF_ERROR(KeepWarning(driver, place, warning));
  }
  return {};
}

std::string FailureText(const CallFailure& failure) {
  std::string text = failure.reason;
  if (!failure.detail.empty()) text += ": " + failure.detail;
  if (!failure.reply_path.empty()) text += " (" + failure.reply_path + ")";
  return text;
}

bool IsArtefact(const Services& services, std::string_view path, std::string_view content) {
  return services.log->Has("artefact.written", ArtefactKey(path, content));
}

Status WriteArtefact(const Services& services, const std::string& path, std::string_view content,
                     Durability durability) {
  const std::string whole = services.run_folder + "/" + path;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(whole.substr(0, whole.rfind('/'))));
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(whole, {content}, {.durability = durability}));
  // A file rewritten with other content is a separate event; a resume repeats none.
  if (IsArtefact(services, path, content)) return {};
  return services.log->Add(
      "artefact.written", ArtefactKey(path, content),
      {{"path", path}, {"sha256", Sha256Hex(content)}, {"bytes", content.size()}});
}

}  // namespace dossier::research
