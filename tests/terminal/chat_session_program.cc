// The interactive session over a driver that answers by rules, for tests in a real terminal.
//
//   chat_session_program [HISTORY]      // "slow" begins a reply and waits for Ctrl-C

#include <iostream>
#include <string>

#include "cli/chat/chat_dialogs.h"
#include "cli/chat/chat_session.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/line_editor.h"

namespace dossier::cli {
namespace {

class RuleDriver final : public ChatDriver {
 public:
  std::string model() const override { return model_; }
  std::string conversation() const override { return id_; }

  ChatTurn Send(const ChatMessage& message, ChatSink& sink, const CancelToken& cancel) override {
    last_ = message.text;
    ++turns_;
    for (const std::string& command : message.exec) sink.OnNote("ran " + command);
    if (message.text == "escape") {
      sink.OnText("a\x1b[2J\x1b]0;title\x07z");
    } else if (message.text == "slow") {
      sink.OnText("It **be");
      sink.OnText("gan** and ");
      while (!cancel.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return {.end = ChatTurn::End::kInterrupted};
    } else {
      sink.OnText(fmt::format("<{}>", message.text));
    }
    return {.usage = "usage: 12 in + 3 out = $0.000001"};
  }
  ChatTurn Retry(ChatSink& sink, const CancelToken& cancel) override {
    return Send({.text = last_}, sink, cancel);
  }
  Result<std::string> Undo(const CancelToken&) override {
    return fmt::format("undone: turn {}", turns_--);
  }
  Result<std::string> Fork(std::string_view id, const CancelToken&) override {
    id_ = id;
    return fmt::format("now in {}", id_);
  }
  Result<std::string> Save(std::string_view id, const CancelToken&) override {
    return fmt::format("kept as {}", id);
  }
  Result<std::string> Refresh(const CancelToken&) override { return "same"; }
  Result<std::string> Compact(const CancelToken&) override { return "nothing to compact"; }
  Result<std::string> Context() override { return "no context"; }
  Result<std::string> Tokens() override { return "12 tokens"; }
  Result<std::string> Usage() override { return "12 in"; }
  Result<std::string> SetModel(std::string_view name) override {
    model_ = name;
    return "";
  }

 private:
  std::string model_ = "rules", id_ = "conv-0a1b2c3d", last_;
  int turns_ = 0;
};

int Run(const std::string& history) {
  Interrupt interrupt;
  const Terminal terminal = Terminal::Detect();
  auto editor = LineEditor::Make({.history = history,
                                  .complete = CompleteSlash,
                                  .color = terminal.color,
                                  .cancel = interrupt.token()});
  if (!editor) return PrintError(std::cerr, editor.error());
  RuleDriver driver;
  ChatSession session(
      {.terminal = terminal, .usage = ChatSessionOptions::Usage::kYes, .edit = EditMessage}, driver,
      **editor, [&](std::function<void()> handler) { interrupt.Divert(std::move(handler)); },
      std::cout, std::cerr);
  const int code = session.Run(interrupt.token());
  return interrupt.exit_code() != 0 ? interrupt.exit_code() : code;
}

}  // namespace
}  // namespace dossier::cli

int main(int argc, char** argv) { return dossier::cli::Run(argc > 1 ? argv[1] : std::string()); }
