#include "cli/chat/conversation_driver.h"

#include <algorithm>
#include <sstream>

#include "base/text/text.h"
#include "chat/store/save.h"
#include "chat/turn/chat.h"
#include "chat/turn/refresh_now.h"
#include "cli/chat/chat_output.h"
#include "cli/conversations/conversations_view.h"
#include "cli/wiring/run_setup.h"

namespace dossier::cli {
namespace {

using chat::Document;
using chat::Loaded;
using chat::Stored;
using chat::TurnOutcome;
using chat::TurnRequest;

// Translates the events of a turn into what a session shows.
class TurnWatch final : public chat::ChatEvents {
 public:
  TurnWatch(ChatSink& sink, ConversationDriver::Stream stream) : sink_(sink), stream_(stream) {}

  void OnDelta(std::string_view text) override {
    if (stream_ == ConversationDriver::Stream::kNo || text.empty()) return;
    shown_ = true;
    sink_.OnText(text);
  }
  void OnRetry(std::string_view sentence) override { sink_.OnNote(sentence); }
  void OnTool(const JsonObject& record, std::string_view why) override {
    sink_.OnNote(ToolLine(record, why));
  }
  void OnCompaction(std::string_view line) override { sink_.OnNote(line); }

  // Shows what no delta brought: a reply of agent mode, or one that had to match a schema.
  void End(std::string_view text) {
    if (!shown_) sink_.OnText(text);
  }

 private:
  ChatSink& sink_;
  const ConversationDriver::Stream stream_;
  bool shown_ = false;
};

ChatTurn Failed(Error error) {
  return {.end = ChatTurn::End::kFailed, .error = std::move(error), .warnings = {}, .usage = {}};
}

ChatTurn TurnOf(const TurnOutcome& outcome) {
  ChatTurn turn{.error = outcome.error, .warnings = outcome.warnings};
  for (const std::string& violation : outcome.violations) turn.warnings.push_back(violation);
  if (outcome.usage.input > 0) {
    turn.usage = chat::UsageLine(outcome.usage, outcome.saving);
  }
  const bool interrupted = outcome.exit == ExitCode(ErrorCode::kCancelled);
  if (outcome.error) turn.end = ChatTurn::End::kFailed;
  if (interrupted && outcome.error) {
    turn.error->message = "stopped before the reply began; nothing of this turn is saved";
  }
  // The session has its own message for this.
  if (interrupted && !outcome.error) {
    turn.end = ChatTurn::End::kInterrupted;
    std::erase(turn.warnings, outcome.incomplete);
  }
  return turn;
}

}  // namespace

Result<std::unique_ptr<ConversationDriver>> ConversationDriver::Make(ChatSetup& setup,
                                                                     Stream stream) {
  if (setup.id().empty()) setup.NameConversation();
  std::unique_ptr<ConversationDriver> driver(new ConversationDriver(setup, stream));
  DOSSIER_ASSIGN_OR_RETURN(const auto loaded, setup.store().Find(setup.id()));
  const TurnRequest request = setup.RequestFor("");
  const std::string name = chat::ChooseModel(loaded ? loaded->stored.model : "",
                                             request.asked_model, request.configured_model);
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, setup.OpenChatModel(name));
  // Rejects, before anything is typed, what the first turn would reject.
  if (loaded)
    DOSSIER_RETURN_IF_ERROR(
        chat::CheckSystemText(request.options, request.system_text, loaded->stored));
  driver->model_ = model.stored;
  driver->opened_at_incomplete_ =
      loaded && !loaded->stored.turns.empty() &&
      loaded->stored.turns.back().reply == chat::TurnRecord::Reply::kIncomplete;
  return driver;
}

bool ConversationDriver::Tell(std::string_view line) {
  if (sink_) sink_->OnNote(line);
  return sink_ != nullptr;
}

ChatTurn ConversationDriver::Send(const ChatMessage& message, ChatSink& sink,
                                  const CancelToken& cancel) {
  std::vector<std::string> exec = first_exec_;
  exec.insert(exec.end(), message.exec.begin(), message.exec.end());
  Attachments attached = first_attached_;
  auto named = setup_.Attach(message.files);
  if (!named) return Failed(named.error());
  for (const std::string& warning : named->warnings) sink.OnNote(warning);
  for (const NamedText& text : named->texts) {
    sink.OnNote(fmt::format("with {} ({} bytes)", text.name, GroupDigits(text.text.size())));
  }
  attached.Add(std::move(*named));
  const Status ready = setup_.SetExec(std::move(exec), std::move(attached));
  if (!ready) return Failed(ready.error());
  ChatTurn turn = TakeTurn(setup_.RequestFor(message.text), sink, cancel);
  if (turn.end != ChatTurn::End::kFailed) {
    first_exec_.clear();
    first_attached_ = {};
  }
  return turn;
}

ChatTurn ConversationDriver::Retry(ChatSink& sink, const CancelToken& cancel) {
  if (const auto begun = LoadBegun(); !begun) return Failed(begun.error());
  if (const Status ready = setup_.SetExec({}); !ready) return Failed(ready.error());
  TurnRequest request = setup_.RequestFor("");
  request.resume = TurnRequest::Resume::kAgain;
  return TakeTurn(std::move(request), sink, cancel);
}

ChatTurn ConversationDriver::TakeTurn(TurnRequest request, ChatSink& sink,
                                      const CancelToken& cancel) {
  // --refresh-context and --compact apply to one turn.
  if (first_ == First::kNo) {
    request.options.refresh = chat::TurnOptions::Refresh::kNo;
    request.options.system = chat::TurnOptions::System::kConfigured;
    request.compacting = TurnRequest::Compacting::kByLimits;
  }
  TurnWatch watch(sink, stream_);
  sink_ = &sink;
  const TurnOutcome outcome = setup_.chat().Send(request, watch, cancel);
  watch.End(outcome.text);
  sink_ = nullptr;
  if (!outcome.model.empty()) model_ = outcome.model;
  if (outcome.usage.input > 0) usage_.Add(outcome.usage);
  // The id differs if the conversation was deleted meanwhile.
  if (!outcome.conversation.empty()) setup_.SetConversation(outcome.conversation);
  ChatTurn turn = TurnOf(outcome);
  std::erase_if(turn.warnings, [&](const std::string& warning) {
    return std::ranges::find(said_, warning) != said_.end();
  });
  said_ = outcome.warnings;
  if (turn.end != ChatTurn::End::kFailed) first_ = First::kNo;
  return turn;
}

Result<Loaded> ConversationDriver::LoadBegun() const {
  DOSSIER_ASSIGN_OR_RETURN(auto loaded, setup_.store().Find(setup_.id()));
  if (!loaded || chat::TurnCount(loaded->stored) == 0) {
    return MakeError(ErrorCode::kNotFound, "this conversation has no turn yet");
  }
  return std::move(*loaded);
}

Result<std::string> ConversationDriver::Undo(const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(LoadBegun());
  std::int64_t turn = 0;
  const auto remove = [&](Document* document) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, chat::ReadStored(*document));
    turn = chat::TurnCount(stored);
    return chat::RemoveLastTurn(document, setup_.store().Now()).map([](std::size_t) {});
  };
  DOSSIER_RETURN_IF_ERROR(setup_.store().Update(setup_.id(), remove, cancel));
  return fmt::format("turn {} is gone", turn);
}

Result<std::string> ConversationDriver::Fork(std::string_view id, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(LoadBegun());
  const std::string before = setup_.id();
  DOSSIER_ASSIGN_OR_RETURN(const std::string copy,
                           setup_.store().Fork(before, std::nullopt, id, cancel));
  setup_.SetConversation(copy);
  return fmt::format("you are in {} now; {} stays as it is", copy, before);
}

Result<std::string> ConversationDriver::Save(std::string_view id, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(LoadBegun());
  if (setup_.unsaved()) {
    DOSSIER_RETURN_IF_ERROR(setup_.KeepAs(std::string(id), cancel));
    return fmt::format("kept as {}; from here on every turn is", id);
  }
  return Fork(id, cancel);
}

Result<std::string> ConversationDriver::Refresh(const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, LoadBegun());
  DOSSIER_RETURN_IF_ERROR(setup_.SetExec({}));
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, setup_.OpenChatModel(model_));
  const chat::GatherLimits limits{.counter = *model.counter,
                                  .max_tokens = chat::ContextLimit(setup_.RequestFor(""), model)};
  chat::BlockSource& source = setup_.context();
  DOSSIER_ASSIGN_OR_RETURN(const chat::Gathered gathered,
                           source.Gather(chat::StaticCommands(source.Declared()), limits, cancel));
  const chat::RefreshParts parts{.store = setup_.store(),
                                 .counter = *model.counter,
                                 .content_folder = setup_.content_folder()};
  const chat::Refreshed refreshed = parts.Compare(loaded.stored, gathered);
  std::vector<std::string> lines = gathered.warnings;
  for (const auto& change : refreshed.changes) {
    lines.push_back(fmt::format("{}: {}", change.name, change.what));
  }
  if (lines.empty()) return "there are no context commands";
  if (chat::ChangesContext(loaded.stored, refreshed)) {
    DOSSIER_RETURN_IF_ERROR(parts.Save(setup_.id(), gathered, cancel));
    lines.emplace_back("the context was refreshed: the provider's cached prefix is lost");
  }
  return Join(lines, "\n");
}

Result<std::string> ConversationDriver::Compact(const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(LoadBegun());
  const TurnRequest request = setup_.RequestFor("");
  const std::string writer_name =
      request.compaction_model.empty() ? model_ : request.compaction_model;
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, setup_.OpenChatModel(model_));
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel writer, setup_.OpenChatModel(writer_name));
  DOSSIER_ASSIGN_OR_RETURN(chat::CompactedNow done, chat::CompactNow({.store = setup_.store(),
                                                                      .model = model,
                                                                      .writer = writer,
                                                                      .limits = request.compaction,
                                                                      .layouts = setup_.layouts()},
                                                                     setup_.id(), cancel));
  if (done.usage.input > 0) usage_.Add(done.usage);
  return std::move(done.line);
}

Result<std::string> ConversationDriver::Context() {
  DOSSIER_ASSIGN_OR_RETURN(const auto loaded, setup_.store().Find(setup_.id()));
  if (loaded && loaded->stored.context && !loaded->stored.context->commands.empty()) {
    return FrozenTable(*loaded->stored.context);
  }
  const auto declared = setup_.context().Declared();
  if (loaded || declared.empty()) return "no context is frozen in this conversation";
  std::string lines;
  for (const auto& command : declared) {
    lines += fmt::format("{}: runs with your first message\n", command.name);
  }
  return lines;
}

Result<std::string> ConversationDriver::Tokens() {
  DOSSIER_RETURN_IF_ERROR(LoadBegun());
  DOSSIER_RETURN_IF_ERROR(setup_.SetExec({}));
  TurnRequest request = setup_.RequestFor(".");  // placeholder for the message to come
  request.action = TurnRequest::Action::kPlan;
  request.options.config_commands = chat::TurnOptions::ConfigCommands::kSkip;
  request.options.refresh = chat::TurnOptions::Refresh::kNo;
  chat::ChatEvents nobody;
  const TurnOutcome outcome = setup_.chat().Send(request, nobody, {});
  if (outcome.error) return tl::unexpected(*outcome.error);
  return ContextTable(*outcome.plan, outcome.blocks) +
         fmt::format("{} tokens, your next message not counted\n",
                     GroupDigits(static_cast<std::uint64_t>(outcome.plan->request.tokens)));
}

Result<std::string> ConversationDriver::Usage() {
  DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, LoadBegun());
  std::ostringstream lines;
  PrintUsage(loaded.stored, lines);
  if (usage_.total.input > 0)
    lines << "this session, " << chat::UsageLine(usage_.total, {}) << "\n";
  return lines.str();
}

Result<std::string> ConversationDriver::SetModel(std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(model_, setup_.SetModel(std::string(name)));
  setup_.Adopt();  // "from now on" holds after this session, too
  said_.clear();
  return fmt::format("{} answers from now on", model_);
}

}  // namespace dossier::cli
