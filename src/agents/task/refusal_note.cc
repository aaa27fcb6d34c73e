#include "agents/task/refusal_note.h"

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "sources/header/header_tokens.h"
#include "sources/header/note.h"

namespace dossier::agents {
namespace {

constexpr int kMaxSameDay = 1000;

std::string NoteText(const RefusedTask& refusal) {
  const sources::Task& task = *refusal.task;
  std::string targets;
  for (const std::string& target : task.targets) {
    targets += (targets.empty() ? "" : ", ") + ToJson(Json(utf8::Sanitize(target)));
  }
  // JSON strings are valid YAML strings.
  return fmt::format(
      "---\nid: {}\nstatus: red\ntargets: [{}]\n---\n# {}: {}\n\n{}\n\nRun: {}\n\n{}\n",
      ToJson(Json(utf8::Sanitize("review-" + task.id))), targets, sources::SingleLine(task.id),
      refusal.status, sources::SingleLine(refusal.reason), refusal.run,
      utf8::Sanitize(refusal.feedback));
}

// Returns the first free name of this form.
std::string FreePath(const std::string& folder, const std::string& stem) {
  std::string path = fmt::format("{}/{}.md", folder, stem);
  for (int i = 2; Exists(path) && i < kMaxSameDay; ++i) {
    path = fmt::format("{}/{}-{}.md", folder, stem, i);
  }
  return path;
}

}  // namespace

Result<std::vector<std::string>> WriteRefusal(const std::string& root, const std::string& folder,
                                              const RefusedTask& refusal, Clock::Wall now) {
  std::vector<std::string> changed;
  const std::string notes = fmt::format("{}/{}", root, folder);
  if (folder.empty() || !Exists(notes)) return changed;
  const std::string queue = fmt::format("{}/{}", notes, sources::kFeedbackQueue);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(queue));
  const std::string path =
      FreePath(queue, fmt::format("{}__{}__review-{}", FormatTime(now).substr(0, 10),
                                  sources::FileNameOfId(refusal.reviewer),
                                  sources::FileNameOfId(refusal.task->id)));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, NoteText(refusal)));
  changed.push_back(path.substr(root.size() + 1));
  const std::string ready = ReadyNote(root, folder, refusal.task->id);
  if (!ready.empty()) {
    DOSSIER_RETURN_IF_ERROR(sources::MarkNoteRed(fmt::format("{}/{}/{}", root, folder, ready)));
    changed.push_back(fmt::format("{}/{}", folder, ready));
  }
  return changed;
}

std::string ReadyNote(const std::string& root, const std::string& folder, std::string_view id) {
  const auto scan = sources::ScanNotes(root, {.folder = folder});
  if (!scan) return {};
  for (const sources::Note& note : scan->notes) {
    if (note.queue == sources::kReadyQueue && note.id == id) return note.path();
  }
  return {};
}

}  // namespace dossier::agents
