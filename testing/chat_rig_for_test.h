// A chat whose model, commands, tool and journal are fakes that write down what happens, in order.
//
//   ChatRig rig;
//   rig.replies = "- hello\n";
//   const TurnOutcome outcome = rig.Send("hi");
//   rig.trace;      // {"commands", "request", "saved"}

#ifndef DOSSIER_TESTING_CHAT_RIG_FOR_TEST_H_
#define DOSSIER_TESTING_CHAT_RIG_FOR_TEST_H_

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "chat/turn/chat.h"
#include "model/client/client.h"

namespace dossier::chat {

// Answers with what a list says, one entry a request.
class ListedClient final : public model::Client {
 public:
  struct Answer {
    std::string text;
    std::vector<model::ToolCall> calls;
    model::Finish finish = model::Finish::kStop;
    std::optional<Error> error;    // behind the text
    std::function<void()> before;  // the answer
    std::size_t chunk = 0;         // bytes of a delta; 0: all at once
  };

  ListedClient(std::vector<Answer> answers, std::vector<std::string>* trace)
      : answers_(std::move(answers)), trace_(trace) {}

  void Submit(std::shared_ptr<const model::Request> request, CancelToken,
              std::shared_ptr<model::Sink> sink) override {
    thread_ = std::jthread([this, request, sink] { Deliver(*request, *sink); });
  }

  std::vector<model::Request> requests;

 private:
  void Deliver(const model::Request& request, model::Sink& sink) {
    requests.push_back(request);
    trace_->push_back("request");
    if (requests.size() > answers_.size()) {
      return sink.OnDone(MakeError(ErrorCode::kFailed, "no answer is left"));
    }
    const Answer& answer = answers_[requests.size() - 1];
    if (answer.before) answer.before();
    const std::size_t chunk = answer.chunk > 0 ? answer.chunk : answer.text.size();
    for (std::size_t at = 0; at < answer.text.size(); at += chunk) {
      sink.OnDelta(std::string_view(answer.text).substr(at, chunk));
    }
    if (answer.error) return sink.OnDone(tl::unexpected(*answer.error));
    model::Reply reply{.text = answer.text, .tool_calls = answer.calls, .finish = answer.finish};
    reply.usage = {.input = 10, .output = 2, .cost_nano_usd = 100};
    sink.OnDone(std::move(reply));
  }

  const std::vector<Answer> answers_;
  std::vector<std::string>* const trace_;
  std::jthread thread_;  // last: it uses the rest
};

struct ChatRig : BlockSource, ChatTool, ChatEvents {
  // ContextSource: one block a command.
  std::vector<DeclaredCommand> Declared() const override { return commands; }
  Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits&,
                          const CancelToken&) override {
    trace.push_back("commands");
    if (gather_error) return tl::unexpected(*gather_error);
    Gathered out{.commands = commands};
    for (const std::size_t index : run) {
      out.blocks.push_back({.command = index, .text = "block of " + commands[index].name});
      out.blocks.back().record.outcome = "ok";
    }
    return out;
  }

  // Tool: refuses what begins with "rm".
  assembly::ToolSpec Spec() const override {
    return {.name = "run_command", .description = "runs", .parameters = JsonObject()};
  }
  Judged Judge(const model::ToolCall& call) const override {
    const std::string word(FindString(call.arguments, "argv").value_or(""));
    if (word.starts_with("rm")) return {.asked = {word}, .sentence = "rm is not allowed"};
    return {.allowed = true, .asked = {word}, .argv = {word}};
  }
  Result<ToolOutput> Run(const Judged& judged, const CancelToken&) const override {
    trace.push_back("tool " + judged.argv.front());
    if (tool_error) return tl::unexpected(*tool_error);
    return ToolOutput{.text = "exit status 0\nout of " + judged.argv.front(), .bytes = 3};
  }

  // ChatEvents.
  void OnDelta(std::string_view text) override { shown += text; }

  ListedClient::Answer Calls(std::vector<std::string> words) const {
    ListedClient::Answer answer{.finish = model::Finish::kToolCalls};
    for (const std::string& word : words) {
      answer.calls.push_back({.id = "call-" + word,
                              .name = "run_command",
                              .arguments = JsonObject{{"argv", word}, {"reason", "to look"}}});
    }
    return answer;
  }

  TurnOutcome Send(TurnRequest request) {
    client = std::make_shared<ListedClient>(answers, &trace);
    const auto clock = SystemClock();
    auto gate = std::shared_ptr<model::Gate>(model::Gate::Make(client, {.retries = 0}, clock));
    store::JournalOptions none;
    if (!journal) journal = std::move(*store::Journal::Open(temp.path() + "/runs", none));
    ChatParts parts{.store = &store,
                    .open_model = [&, gate](const std::string& name) -> Result<driver::BoundModel> {
                      if (model_error) return tl::unexpected(*model_error);
                      return driver::BoundModel{
                          .name = name,
                          .stored = name,
                          .entry = entry,
                          .counter = counter,
                          .gate = gate,
                          .wire = [](const model::Request&) { return "wire"; }};
                    },
                    .context = this,
                    .confirm = confirm,
                    .memory = memory,
                    .journal = journal,
                    .content_folder = content_folder()};
    if (agent) parts.tools = {this};
    return Chat(parts).Send(request, *this, cancel.token());
  }

  std::string content_folder() const { return temp.path() + "/content"; }

  TurnRequest Request(const std::string& prompt) const {
    return {.id = "talk", .prompt = prompt, .system_text = "S", .asked_model = "m"};
  }
  TurnOutcome Send(const std::string& prompt) { return Send(Request(prompt)); }

  std::optional<Stored> Read() const {
    auto loaded = store.Find("talk");
    if (!loaded || !*loaded) return std::nullopt;
    return (*loaded)->stored;
  }
  std::vector<std::string> Saved() const {
    std::vector<std::string> out;
    const auto stored = Read();
    if (!stored) return out;
    for (const StoredMessage& message : stored->messages)
      out.push_back(message.role + ": " + message.Text());
    return out;
  }

  TempFolder temp = *TempFolder::Make();
  ConversationStore store{temp.path() + "/conversations"};
  std::shared_ptr<store::Journal> journal;
  std::vector<DeclaredCommand> commands;
  std::vector<ListedClient::Answer> answers;
  std::shared_ptr<ListedClient> client;
  std::optional<Error> gather_error, model_error, tool_error;
  bool agent = false;
  std::function<Consent(const Judged&)> confirm;
  driver::MemoryUse memory;
  CancelSource cancel;
  model::Entry entry{.name = "m", .capability = {.window = 100'000, .max_output = 1000}};
  std::shared_ptr<const tokens::Counter> counter = tokens::MakeCharCounter();
  mutable std::vector<std::string> trace;
  std::string shown;
};

}  // namespace dossier::chat

#endif  // DOSSIER_TESTING_CHAT_RIG_FOR_TEST_H_
