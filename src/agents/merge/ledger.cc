#include "agents/merge/ledger.h"

#include <unistd.h>

#include <algorithm>

#include "base/files/append_file.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::uint64_t kMaxLedger = 64 << 20;  // bytes
constexpr std::string_view kName = "/finished_to_review.md";

std::string Escaped(std::string text) {
  text = ReplaceAll(text, "|", "%7C");
  text = ReplaceAll(text, "\n", "%0A");
  return ReplaceAll(text, "\r", "%0D");
}

// Returns what must be appended to `text` so that it contains `line` once.
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

std::optional<std::string> LedgerPatch(const std::string& file, std::string_view task) {
  constexpr std::string_view kHash = "patch_sha256=";
  const auto text = ReadRegularFile(file, kMaxLedger);
  if (!text) return std::nullopt;
  const std::string id = Escaped(std::string(task));
  std::optional<std::string> hash;
  for (const std::string_view line : Split(*text, '\n')) {
    const auto parts = Split(line, '|');
    if (parts.size() != 5 || TrimSpace(parts[1]) != "APPROVED" || TrimSpace(parts[2]) != id)
      continue;
    const std::string_view last = TrimSpace(parts[4]);
    if (!last.starts_with(kHash) || !IsSha256Hex(last.substr(kHash.size()))) continue;
    hash = std::string(last.substr(kHash.size()));
  }
  return hash;
}

Status AppendLedger(const std::string& file, const std::string& line) {
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForAppend(file, 0644));
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), Missing(text, line)));
  if (fsync(fd.get()) != 0) return MakeErrnoError(errno, file);
  return {};
}

}  // namespace dossier::agents
