// The ChatDriver of `dossier chat`: a stored conversation, its model and its context.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto driver, ConversationDriver::Make(*setup, Stream::kYes, cancel));
//   ChatSession(options, *driver, reader, interrupts, out, err).Run(cancel);
//
// Every turn goes through chat::Chat, so it sends and saves the same as the one-shot command. It
// holds no lock between turns: another process may add a turn to the same conversation.
// Ownership: the caller owns the setup. Thread-safety: as ChatDriver.

#ifndef DOSSIER_CLI_CHAT_CONVERSATION_DRIVER_H_
#define DOSSIER_CLI_CHAT_CONVERSATION_DRIVER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chat/chat_driver.h"
#include "cli/chat/chat_setup.h"

namespace dossier::cli {

class ConversationDriver final : public ChatDriver {
 public:
  enum class Stream { kNo, kYes };  // kNo: shows a reply only when it is complete

  // Opens the model, so that a session without one ends before anything is typed, and creates a
  // conversation id if needed. Errors: those of the model and of the stored conversation.
  static Result<std::unique_ptr<ConversationDriver>> Make(ChatSetup& setup, Stream stream);

  std::string model() const override { return model_; }
  std::string conversation() const override { return setup_.unsaved() ? "" : setup_.id(); }

  ChatTurn Send(const ChatMessage& message, ChatSink& sink, const CancelToken& cancel) override;
  ChatTurn Retry(ChatSink& sink, const CancelToken& cancel) override;

  Result<std::string> Undo(const CancelToken& cancel) override;
  Result<std::string> Fork(std::string_view id, const CancelToken& cancel) override;
  Result<std::string> Save(std::string_view id, const CancelToken& cancel) override;
  Result<std::string> Refresh(const CancelToken& cancel) override;
  Result<std::string> Compact(const CancelToken& cancel) override;
  Result<std::string> Context() override;
  Result<std::string> Tokens() override;
  Result<std::string> Usage() override;
  Result<std::string> SetModel(std::string_view name) override;

  // Returns true if the last reply of the opened conversation was incomplete.
  bool opened_at_incomplete() const { return opened_at_incomplete_; }

  // Shows a line from code behind the turn. Returns false if no turn is running to show it.
  bool Tell(std::string_view line);

 private:
  ConversationDriver(ChatSetup& setup, Stream stream)
      : setup_(setup),
        stream_(stream),
        first_exec_(setup.exec()),
        first_attached_(setup.attached()) {}

  ChatTurn TakeTurn(chat::TurnRequest request, ChatSink& sink, const CancelToken& cancel);
  // Errors: kNotFound before the first turn, with that reason.
  Result<chat::Loaded> LoadBegun() const;

  ChatSetup& setup_;
  const Stream stream_;
  std::string model_;
  bool opened_at_incomplete_ = false;
  std::vector<std::string> first_exec_;                 // from --exec, for the first turn
  Attachments first_attached_;                          // from -f and -a, for the first turn
  enum class First { kNo, kYes } first_ = First::kYes;  // kYes: no turn of this session is done
  std::vector<std::string> said_;  // warnings of the last turn, so that none is repeated
  model::UsageSum usage_;          // of this session
  ChatSink* sink_ = nullptr;       // of the running turn
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CONVERSATION_DRIVER_H_
