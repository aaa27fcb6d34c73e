#include "agents/merge/intent.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

constexpr std::uint64_t kMaxBytes = 256 << 20;

JsonArray List(const std::vector<std::string>& texts) {
  JsonArray list;
  for (const std::string& text : texts) list.emplace_back(utf8::Sanitize(text));
  return list;
}

}  // namespace

Result<std::optional<Intent>> IntentLog::Read() const {
  if (!Exists(file_)) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file_, kMaxBytes));
  const auto json = ParseJson(text);
  if (!json || FindInt(*json, "v") != 1) {
    return MakeError(ErrorCode::kDamaged, "{}: not the record of a merge", file_);
  }
  Intent intent;
  const struct {
    std::string_view key;
    std::string* value;
  } kFields[] = {{"run", &intent.run},
                 {"task", &intent.task},
                 {"ref", &intent.ref},
                 {"old", &intent.old_commit},
                 {"new", &intent.new_commit},
                 {"boot_id", &intent.boot_id},
                 {"ledger_line", &intent.ledger_line},
                 {"ledger_file", &intent.ledger_file}};
  for (const auto& [key, value] : kFields) {
    const auto found = FindString(*json, key);
    if (!found) return MakeError(ErrorCode::kDamaged, "{}: {} is missing", file_, key);
    *value = *found;
  }
  intent.paths = StringsOf(Find(*json, "paths"));
  intent.locks = StringsOf(Find(*json, "locks"));
  intent.pid = FindInt(*json, "pid").value_or(0);
  if (const Json* checkout = Find(*json, "checkout"); checkout && checkout->is_object()) {
    const auto root = FindString(*checkout, "root"), git_dir = FindString(*checkout, "git_dir");
    if (!root || !git_dir) {
      return MakeError(ErrorCode::kDamaged, "{}: checkout is incomplete", file_);
    }
    intent.checkout = Checkout{std::string(*root), std::string(*git_dir)};
  }
  return intent;
}

Status IntentLog::Open(const Intent& intent) {
  Json checkout = nullptr;
  if (intent.checkout) {
    checkout = JsonObject{{"root", intent.checkout->root}, {"git_dir", intent.checkout->git_dir}};
  }
  return WriteStateFile(file_,
                        ToJson(JsonObject{{"v", 1},
                                          {"run", intent.run},
                                          {"task", utf8::Sanitize(intent.task)},
                                          {"ref", intent.ref},
                                          {"old", intent.old_commit},
                                          {"new", intent.new_commit},
                                          {"checkout", checkout},
                                          {"paths", List(intent.paths)},
                                          {"locks", List(intent.locks)},
                                          {"pid", intent.pid},
                                          {"boot_id", intent.boot_id},
                                          {"ledger_line", utf8::Sanitize(intent.ledger_line)},
                                          {"ledger_file", intent.ledger_file}}),
                        Durability::kSurvivesPowerLoss);
}

Status IntentLog::Close() {
  if (unlink(file_.c_str()) != 0 && errno != ENOENT) return MakeErrnoError(errno, file_);
  const UniqueFd folder(
      open(file_.substr(0, file_.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) fsync(folder.get());
  return {};
}

void SignIntent(Intent* intent) {
  intent->pid = getpid();
  intent->boot_id = TrimSpace(ReadFile("/proc/sys/kernel/random/boot_id", 100).value_or(""));
}

}  // namespace dossier::agents
