// How conversations are printed and exported.

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

// A message as it is printed: number in the file, role, text, and what else it holds by kind and
// size: "image image/png, 3 B".
struct ShownMessage {
  std::size_t number = 0;
  std::string role, text;
  std::vector<std::string> media = {};
  chat::TurnRecord::Reply reply = chat::TurnRecord::Reply::kComplete;  // whether it was stopped
};
// The messages of the file; with `turn`, those of that turn.
std::vector<ShownMessage> MessagesOf(const chat::Stored& stored, std::optional<std::int64_t> turn);
// As a request would hold them now: compacted.
std::vector<ShownMessage> MessagesAsSent(const chat::Stored& stored);

// ID, model, messages, updated, title: one a line.
void PrintList(const std::vector<chat::Listed>& list, std::ostream& out);
Json ListJson(const std::vector<chat::Listed>& list);
// Model, created, updated, count, and tokens if there are any.
void PrintHeader(const chat::Stored& stored, std::ostream& out);
void PrintMessages(const std::vector<ShownMessage>& messages, std::ostream& out);
void PrintUsage(const chat::Stored& stored, std::ostream& out);
void PrintCompactions(const chat::Stored& stored, std::ostream& out);
Json ShowJson(const chat::Stored& stored, const std::vector<ShownMessage>& messages);

// "# TITLE", then a heading for each message.
std::string ToMarkdown(const chat::Stored& stored, const std::vector<ShownMessage>& messages);

enum class ConversationFormat {
  kMarkdown,  // md
  kFile,      // json: one file after the other, byte for byte
  kLines,     // jsonl: {"messages":[…]} a line
  kObject,    // --json: one object for all, which holds the files byte for byte
};

enum class ExportView { kStored, kAsSent };  // kAsSent: as a request holds it, compacted

// Conversations as the text of a file or of stdout.
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

// Errors: kUsage if both are given and do not agree. `format` is md, json, jsonl or "", which is
// md.
Result<ConversationFormat> ExportFormatOf(std::string_view format, bool json);

// Where each block of a request stands and what it costs: `chat --explain-context`.
//
//   out << ContextTable(*outcome.plan, outcome.blocks);
//
// Thread-safety: pure functions.

// A line for each context block and each section of the request: block, source, bytes, tokens, cut,
// zone.
// `blocks` are those of the plan.
std::string ContextTable(const chat::TurnPlan& plan, std::span<const chat::ContextBlock> blocks);

// A line for each command whose output is frozen: block, source, bytes, tokens, cut, outcome.
std::string FrozenTable(const chat::ContextRecord& context);

// The sections of an assembly report: name, zone, tokens.
Json ContextSections(const Json& report);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_VIEW_H_
