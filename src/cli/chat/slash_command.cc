#include "cli/chat/slash_command.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/text/text.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

enum class Takes : std::uint8_t { kNothing, kOptional, kRequired };

struct Row {
  SlashCommand command;
  std::string_view name, argument;
  Takes takes;
  std::string_view about;
};

constexpr Row kTable[] = {
    {SlashCommand::kHelp, "/help", "", Takes::kNothing, "this list"},
    {SlashCommand::kExit, "/exit", "", Takes::kNothing, "leave; so do exit, quit and Ctrl-D"},
    {SlashCommand::kContext, "/context", "", Takes::kNothing,
     "the context commands: bytes, tokens, outcome"},
    {SlashCommand::kRefresh, "/refresh", "", Takes::kNothing,
     "run the context commands again and replace the frozen context"},
    {SlashCommand::kTokens, "/tokens", "", Takes::kNothing,
     "tokens of the next request, by section"},
    {SlashCommand::kUsage, "/usage", "", Takes::kNothing, "tokens and cost so far"},
    {SlashCommand::kModel, "/model", "[NAME]", Takes::kOptional,
     "use this model from now on; alone: say which one answers"},
    {SlashCommand::kExec, "/exec", "CMD", Takes::kRequired,
     "run CMD and put its output before your next message"},
    {SlashCommand::kCopy, "/copy", "[code]", Takes::kOptional,
     "the last reply to the clipboard; code: its last code block"},
    {SlashCommand::kEdit, "/edit", "", Takes::kNothing, "write the message in $VISUAL or $EDITOR"},
    {SlashCommand::kMulti, "/multi", "", Takes::kNothing,
     "a message of several lines, up to a line with only a dot"},
    {SlashCommand::kUndo, "/undo", "", Takes::kNothing, "remove the last turn"},
    {SlashCommand::kRetry, "/retry", "", Takes::kNothing, "ask the last message again"},
    {SlashCommand::kFork, "/fork", "[ID]", Takes::kOptional,
     "go on in a copy, this one stays as it is"},
    {SlashCommand::kSave, "/save", "ID", Takes::kRequired, "keep the conversation under this id"},
    {SlashCommand::kCompact, "/compact", "", Takes::kNothing,
     "shorten the view of old turns; the file keeps all"},
};

const Row* FindRow(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &Row::name);
  return found == std::end(kTable) ? nullptr : found;
}

tl::unexpected<Error> Unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Row& row : kTable) names.emplace_back(row.name);
  const std::vector<std::string> nearest = NearestNames(name, names, 1);
  if (!nearest.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "unknown command {}; did you mean {}? (//… is sent as text)", name,
                     nearest.front());
  }
  return MakeError(ErrorCode::kUsage, "unknown command {}; /help lists them (//… is sent as text)",
                   name);
}

}  // namespace

Result<ChatInput> ParseChatInput(std::string_view text) {
  if (text.starts_with("//")) return ChatInput{.argument = std::string(text.substr(1))};
  // As in every shell; a message of that one word is sent as //exit is.
  if (const auto word = TrimSpace(text); word == "exit" || word == "quit") {
    return ChatInput{.command = SlashCommand::kExit};
  }
  if (!text.starts_with('/')) return ChatInput{.argument = std::string(text)};
  const std::string_view name = text.substr(0, text.find_first_of(" \t\r\n"));
  const std::string_view argument = TrimSpace(text.substr(name.size()));
  const Row* row = FindRow(name);
  // A pasted text that begins with a path is no mistyped command.
  if (!row && text.find('\n') != std::string_view::npos) {
    return ChatInput{.argument = std::string(text)};
  }
  if (!row) return Unknown(name);
  if (row->takes == Takes::kNothing && !argument.empty()) {
    return MakeError(ErrorCode::kUsage, "{} takes no argument", name);
  }
  if (row->takes == Takes::kRequired && argument.empty()) {
    return MakeError(ErrorCode::kUsage, "{} needs an argument: {} {}", name, name, row->argument);
  }
  if (row->command == SlashCommand::kCopy && !argument.empty() && argument != "code") {
    return MakeError(ErrorCode::kUsage, "/copy {}: say code, or nothing", argument);
  }
  return ChatInput{.command = row->command, .argument = std::string(argument)};
}

std::string SlashHelp() {
  std::string help;
  for (const Row& row : kTable) {
    help += fmt::format("  {:<14} {}\n", fmt::format("{} {}", row.name, row.argument), row.about);
  }
  help +=
      "\n"
      "  A line that ends in \\ goes on in the next one. A paste is one message.\n"
      "  @FILE in a line sends that file with it: a text, an image, or an address.\n"
      "  //x sends /x. Ctrl-C stops a reply and keeps what came; twice, it leaves.\n";
  return help;
}

std::vector<std::string> CompleteSlash(std::string_view typed) {
  std::vector<std::string> names;
  if (!typed.starts_with('/')) return names;
  for (const Row& row : kTable) {
    if (row.name.starts_with(typed)) names.emplace_back(row.name);
  }
  return names;
}

namespace {

constexpr std::size_t kMostOffered = 200;

// Files and folders whose path begins with `start`; a folder ends in a slash, to go on from there.
std::vector<std::string> PathsFrom(const std::string& start) {
  const std::size_t slash = start.rfind('/');
  const std::string folder = slash == start.npos ? "" : start.substr(0, slash + 1);
  const std::string name = start.substr(folder.size());
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string found = entry.path().filename().string();
    if (!found.starts_with(name) || (name.empty() && found.starts_with('.'))) continue;
    if (found.find(' ') != found.npos) continue;  // would end the mention
    std::error_code unknown;
    paths.push_back(folder + found + (entry.is_directory(unknown) ? "/" : ""));
    if (paths.size() == kMostOffered) break;
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::vector<std::string> CompleteTyped(std::string_view typed, const CompletionContext& context) {
  std::vector<std::string> out;
  const std::size_t word = typed.find_last_of(" \t") + 1;  // npos + 1 is 0
  if (typed.substr(word).starts_with('@')) {
    for (const std::string& path : PathsFrom(std::string(typed.substr(word + 1)))) {
      out.push_back(fmt::format("{}@{}", typed.substr(0, word), path));
    }
    return out;
  }
  const std::pair<std::string_view, const ValueKind&> kNames[] = {
      {"/model ", kModel}, {"/fork ", kConversation}, {"/save ", kConversation}};
  for (const auto& [command, kind] : kNames) {
    if (!typed.starts_with(command)) continue;
    const std::string_view start = typed.substr(command.size());
    for (const Completion& one : kind.offers(context)) {
      if (one.word.starts_with(start)) out.push_back(fmt::format("{}{}", command, one.word));
      if (out.size() == kMostOffered) break;
    }
    std::ranges::sort(out);
    return out;
  }
  return CompleteSlash(typed);
}

}  // namespace dossier::cli
