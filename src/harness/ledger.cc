#include "harness/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace dossier::harness {
namespace {

constexpr std::string_view kName = "/finished_to_review.md";

std::string Escaped(std::string text) {
  text = ReplaceAll(text, "|", "%7C");
  text = ReplaceAll(text, "\n", "%0A");
  return ReplaceAll(text, "\r", "%0D");
}

// What is to be written behind `text` so that `line` stands in it once.
std::string Missing(std::string_view text, const std::string& line) {
  const auto lines = Split(text, '\n');
  if (std::find(lines.begin(), lines.end(), line) != lines.end()) {
    return lines.back() == line ? "\n" : "";
  }
  const std::string_view torn = lines.back();
  if (torn.empty()) return line + "\n";
  if (line.starts_with(torn)) return line.substr(torn.size()) + "\n";
  return fmt::format("\n{}\n", line);
}

}  // namespace

std::string LedgerLine(const LedgerEntry& entry) {
  const std::string time = FormatTime(entry.time);  // 2025-10-29T13:43:07.123Z
  return fmt::format("- {} {}Z | APPROVED | {} | {} | patch_sha256={}", time.substr(0, 10),
                     time.substr(11, 5), Escaped(entry.task),
                     entry.note.empty() ? "-" : Escaped(entry.note), entry.patch_sha256);
}

std::string LedgerFile(const std::string& root, const StateFolder& state) {
  const bool kept_in_tree = !root.empty() && Exists(root + "/agent_notes");
  return fmt::format("{}{}", kept_in_tree ? root : state.path(), kName);
}

Status AppendLedger(const std::string& file, const std::string& line) {
  const UniqueFd fd(open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return MakeErrnoError(errno, file);
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), Missing(text, line)));
  if (fsync(fd.get()) != 0) return MakeErrnoError(errno, file);
  return {};
}

}  // namespace dossier::harness
