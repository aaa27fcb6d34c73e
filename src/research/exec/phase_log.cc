#include "research/exec/phase_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/files/append_file.h"
#include "base/files/file.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/exec/command_rules.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

bool IsUrlWord(std::string_view word) {
  constexpr std::string_view kStarts[] = {"http://", "https://", "ftp://",
                                          "git://",  "ssh://",   "git@"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return word.starts_with(start); });
}

}  // namespace

Status AppendToFile(const std::string& path, std::string_view text) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd file, OpenForAppend(path, 0644));
  return WriteAll(file.get(), text);
}

Status PhaseLog::Append(std::string_view text) const {
  return AppendToFile(path_, Redact(utf8::Sanitize(text)));
}

Status PhaseLog::Begin() {
  DOSSIER_RETURN_IF_ERROR(RemoveAll(path_));
  return AppendToFile(path_, "");
}

Status PhaseLog::Line(std::string_view text) { return Append(fmt::format("{}\n", text)); }

Status PhaseLog::Add(const ExecCommand& command, const ExecResult& result) {
  std::string text = fmt::format("$ {}\n", CommandLine(command));
  for (const Download& download : Downloads(command.command)) {
    text += fmt::format("[download {} -> {}]\n", download.url,
                        download.destination.empty() ? "." : download.destination);
  }
  if (!result.note.empty()) text += fmt::format("[{}]\n", result.note);
  text += OutputText(result);
  const std::uint64_t dropped =
      result.out_bytes - std::min<std::uint64_t>(result.out_bytes, result.out.size());
  if (dropped > 0)
    text += fmt::format("[{} above the output limit not kept]\n", FormatSize(dropped));
  text += fmt::format(
      "[exit status {}, {}; isolation: {}{}]\n\n", result.status, SecondsText(result.seconds),
      Join(result.layers, ", "),
      result.no_overlay.empty() ? "" : fmt::format("; no overlay: {}", result.no_overlay));
  return Append(text);
}

std::string CommandLine(const ExecCommand& command) {
  return command.argv.empty() ? command.command : Join(command.argv, " ");
}

std::string OutputText(const ExecResult& result) {
  std::string text;
  for (const std::string* part : {&result.out, &result.err}) {
    if (part->empty()) continue;
    text += utf8::Sanitize(*part);
    if (!text.ends_with('\n')) text.push_back('\n');
  }
  if (result.timed_out) {
    text += fmt::format("[timed out after {:.0f} s]\n", result.seconds);
  } else if (result.out_of_memory) {
    text += "[out of memory]\n";
  } else if (result.signal != 0) {
    text += fmt::format("[ended by signal {}]\n", result.signal);
  } else if (result.status != 0) {
    text += fmt::format("[exit status {}]\n", result.status);
  }
  return text;
}

std::vector<Download> Downloads(std::string_view command) {
  std::vector<Download> found;
  for (const ShellCommand& simple : ShellCommands(command)) {
    const std::vector<ShellWord>& words = simple.words;
    const std::string_view name =
        std::string_view(words[0].text).substr(words[0].text.rfind('/') + 1);
    const bool clones = name == "git" && words.size() > 2 && words[1].text == "clone";
    if (!clones && name != "wget" && name != "curl") continue;
    Download download;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i].text;
      const bool named = word == "-O" || word == "-o" || word == "--output" || word == "-P";
      if (!clones && named && i + 1 < words.size()) {
        download.destination = words[++i].text;
      } else if (IsUrlWord(word)) {
        download.url = word;
      } else if (clones && !download.url.empty() && !word.starts_with('-')) {
        download.destination = word;
      }
    }
    if (!download.url.empty()) found.push_back(std::move(download));
  }
  return found;
}

}  // namespace dossier::research
