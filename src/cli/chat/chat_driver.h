// The interface through which an interactive chat uses the conversation behind it. The session
// (chat_session.h) reads lines and shows text; a driver holds the conversation, its model and its
// context.
//
//   const ChatTurn turn = driver.Send({.text = "why?", .exec = {"git diff"}}, sink, cancel);
//   if (turn.end == ChatTurn::End::kFailed) Show(turn.error->message);
//
// Thread-safety: one call at a time; `cancel` may be cancelled from any thread.

#ifndef DOSSIER_CLI_CHAT_CHAT_DRIVER_H_
#define DOSSIER_CLI_CHAT_CHAT_DRIVER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::cli {

struct ChatMessage {
  std::string text;
  std::vector<std::string> exec;   // commands of /exec for this turn
  std::vector<std::string> files;  // files that the message names with @
};

struct ChatTurn {
  // kInterrupted: a person stopped it; the partial reply is saved as incomplete.
  enum class End { kDone, kInterrupted, kFailed } end = End::kDone;
  std::optional<Error> error;  // set with kFailed
  std::vector<std::string> warnings;
  std::string usage;  // "usage: 1,234 in …"; "" if nothing was billed
};

// Receives the progress of a turn, from any thread, one call at a time.
class ChatSink {
 public:
  virtual ~ChatSink() = default;
  virtual void OnText(std::string_view delta) = 0;
  // One line for a person: a retry, a tool call, or a compaction.
  virtual void OnNote(std::string_view line) = 0;
};

class ChatDriver {
 public:
  virtual ~ChatDriver() = default;

  virtual std::string model() const = 0;
  virtual std::string conversation() const = 0;  // "": nothing is saved

  virtual ChatTurn Send(const ChatMessage& message, ChatSink& sink, const CancelToken& cancel) = 0;
  // Sends the last user message again, replacing its turn. Errors are reported as kFailed.
  virtual ChatTurn Retry(ChatSink& sink, const CancelToken& cancel) = 0;

  // These return what to show: one sentence or a table. On errors nothing changes.
  virtual Result<std::string> Undo(const CancelToken& cancel) = 0;
  virtual Result<std::string> Fork(std::string_view id, const CancelToken& cancel) = 0;  // "": made
  virtual Result<std::string> Save(std::string_view id, const CancelToken& cancel) = 0;
  virtual Result<std::string> Refresh(const CancelToken& cancel) = 0;
  virtual Result<std::string> Compact(const CancelToken& cancel) = 0;
  virtual Result<std::string> Context() = 0;
  virtual Result<std::string> Tokens() = 0;
  virtual Result<std::string> Usage() = 0;
  virtual Result<std::string> SetModel(std::string_view name) = 0;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_DRIVER_H_
