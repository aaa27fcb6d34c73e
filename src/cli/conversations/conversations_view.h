// Prints and exports conversations.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_VIEW_H_
#define DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_VIEW_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "chat/context/plan.h"
#include "chat/store/index.h"
#include "chat/store/store.h"

namespace dossier::cli {

// A message as printed: number in the file, role, text, and its other parts with kind and size:
// "image image/png, 3 B".
struct ShownMessage {
  std::size_t number = 0;
  std::string role, text;
  std::vector<std::string> media = {};
  chat::TurnRecord::Reply reply = chat::TurnRecord::Reply::kComplete;  // whether it was stopped
};
// Returns the messages of the file; with `turn`, those of that turn.
std::vector<ShownMessage> MessagesOf(const chat::Stored& stored, std::optional<std::int64_t> turn);
// Returns the messages as a request would contain them now: compacted.
std::vector<ShownMessage> MessagesAsSent(const chat::Stored& stored);

// Prints ID, model, messages, updated, title: one conversation per line.
void PrintList(const std::vector<chat::Listed>& list, std::ostream& out);
Json ListJson(const std::vector<chat::Listed>& list);
// Prints model, created, updated, count, and tokens if known.
void PrintHeader(const chat::Stored& stored, std::ostream& out);
void PrintMessages(const std::vector<ShownMessage>& messages, std::ostream& out);
void PrintUsage(const chat::Stored& stored, std::ostream& out);
void PrintCompactions(const chat::Stored& stored, std::ostream& out);
Json ShowJson(const chat::Stored& stored, const std::vector<ShownMessage>& messages);

// Returns "# TITLE", then a heading for each message.
std::string ToMarkdown(const chat::Stored& stored, const std::vector<ShownMessage>& messages);

enum class ConversationFormat {
  kMarkdown,  // md
  kFile,      // json: one file after another, byte for byte
  kLines,     // jsonl: one {"messages":[…]} per line
  kObject,    // --json: one object that contains the files byte for byte
};

enum class ExportView { kStored, kAsSent };  // kAsSent: compacted, as in a request

// Writes conversations as text, to a file or to stdout.
class Exporter {
 public:
  Exporter(ConversationFormat format, ExportView view) : format_(format), view_(view) {}

  void Add(const chat::Loaded& loaded);
  std::string Text() const;

 private:
  JsonArray Messages(const chat::Stored& stored) const;
  std::string One(const chat::Loaded& loaded) const;

  const ConversationFormat format_;
  const ExportView view_;
  std::string text_;
};

// Errors: kUsage if both are given and disagree. `format` is md, json, jsonl, or "" for md.
Result<ConversationFormat> ExportFormatOf(std::string_view format, bool json);

// Shows where each block of a request is and what it costs: `chat --explain-context`.
//
//   out << ContextTable(*outcome.plan, outcome.blocks);
//
// Thread-safety: pure functions.

// Returns one line for each context block and each section of the request: block, source, bytes,
// tokens, cut, zone. `blocks` come from the plan.
std::string ContextTable(const chat::TurnPlan& plan, std::span<const chat::ContextBlock> blocks);

// Returns one line per command with frozen output: block, source, bytes, tokens, cut, outcome.
std::string FrozenTable(const chat::ContextRecord& context);

// Returns the sections of an assembly report: name, zone, tokens.
Json ContextSections(const Json& report);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_VIEW_H_
