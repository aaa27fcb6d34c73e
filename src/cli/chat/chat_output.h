// Prints a turn of `dossier chat`: text, one JSON object, or one event per line.
//
//   ChatOutput output({.form = ChatOutput::Form::kText, …}, cancel, out, err);
//   const TurnOutcome outcome = chat.Send(request, output, output.token());
//   return output.Finish(outcome);
//
// The answer goes to stdout, everything else to stderr. If the reader of stdout goes away, nothing
// more is printed anywhere; a stateless request is then cancelled, a conversation continues.
// Thread-safety: as ChatEvents; one object per turn.

#ifndef DOSSIER_CLI_CHAT_CHAT_OUTPUT_H_
#define DOSSIER_CLI_CHAT_CHAT_OUTPUT_H_

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "chat/turn/chat.h"
#include "cli/markdown/markdown_view.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

class ChatOutput final : public chat::ChatEvents {
 public:
  enum class Form { kText, kJson, kJsonLines };
  enum class Live { kNo, kYes };  // print text as it arrives
  enum class Quiet { kNo, kYes };
  enum class Shown { kReply, kCode, kRaw, kRequest, kContextTable, kRequestAndTable };

  struct Options {
    Form form = Form::kText;
    Live live = Live::kNo;
    Quiet quiet = Quiet::kNo;
    Shown shown = Shown::kReply;
    enum class Usage { kNo, kYes } usage = Usage::kNo;
    enum class Kept { kStateless, kConversation } kept = Kept::kStateless;
    Terminal terminal;
    MarkdownMode markdown = MarkdownMode::kAuto;
  };

  ChatOutput(Options options, const CancelToken& cancel, std::ostream& out, std::ostream& err)
      : options_(options),
        stop_(cancel),
        out_(out),
        err_(err),
        view_(MakeReplyView(options.markdown, options.terminal, out)),
        waiting_(options.terminal, err) {}

  // Shows a waiting line on a terminal until there is text or StopWaiting is called.
  void Wait(std::string_view for_what);
  void WaitOn();  // continues to wait after StopWaiting, if there is still no text
  // Call before anything else writes to the terminal.
  void StopWaiting() { waiting_.Stop(); }

  // It is also cancelled when nobody reads a stateless reply any more.
  CancelToken token() const { return stop_.token(); }

  void OnStart(std::string_view conversation, std::int64_t turn, std::string_view model) override;
  void OnContext(const Json& blocks) override;
  void OnDelta(std::string_view text) override;
  void OnRetry(std::string_view sentence) override;
  void OnTool(const JsonObject& record, std::string_view why) override;
  void OnCompaction(std::string_view line) override;
  void OnWarning(std::string_view sentence) override;

  // Reports warnings that stderr already showed before the turn as events of --jsonl.
  void ReportEarlier(const std::vector<std::string>& warnings);

  // Prints the rest; returns the exit code.
  int Finish(const chat::TurnOutcome& outcome);

 private:
  bool closed() const { return !out_.good(); }
  void Event(std::string_view name, JsonObject data);
  void Say(std::string_view line);
  void Print(std::string_view text);
  void EndText();
  void EndShownText();
  void PrintCode(const std::string& text);
  void FinishText(const chat::TurnOutcome& outcome);
  void FinishEvents(const chat::TurnOutcome& outcome);
  void PrintPlan(const chat::TurnOutcome& outcome);

  const Options options_;
  CancelSource stop_;
  std::ostream& out_;
  std::ostream& err_;
  const std::unique_ptr<ReplyView> view_;
  WaitingLine waiting_;
  std::string waited_for_;
  bool printed_ = false;    // part of the reply was printed
  bool text_open_ = false;  // the last line of text has no newline yet
};

// Returns one line for a tool call: "allowed: git log -n 2  # to see what changed".
std::string ToolLine(const JsonObject& record, std::string_view why);

// Returns {"schema":1,"text",…,"exit"}; for a failure {"schema":1,"error",…}.
Json OutcomeJson(const chat::TurnOutcome& outcome);
// Reports failures before a turn begins; stderr already shows `warnings`.
int PrintFailure(const Error& error, ChatOutput::Form form,
                 const std::vector<std::string>& warnings, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_OUTPUT_H_
