#include "chat/turn/chat.h"

#include <dossier/chat.h>

#include "api/access.h"
#include "app/load_config.h"
#include "app/open_model.h"
#include "app/spending_window.h"
#include "base/result.h"

namespace dossier {
namespace {

// Forwards the events of one turn.
class ChatWatch final : public chat::ChatEvents {
 public:
  explicit ChatWatch(const SendOptions& options) : options_(options) {}

  void OnDelta(std::string_view text) override {
    if (options_.on_text && !text.empty()) options_.on_text(text);
  }
  void OnRetry(std::string_view sentence) override { Note(sentence); }
  void OnCompaction(std::string_view line) override { Note(line); }

 private:
  void Note(std::string_view line) {
    if (options_.on_note) options_.on_note(line);
  }

  const SendOptions& options_;
};

tl::unexpected<Error> MovedFromChat() {
  return MakeError(ErrorCode::kInvalidArgument, "this conversation was moved from: it has no file");
}

ChatReply ChatReplyOf(chat::TurnOutcome outcome) {
  ChatReply reply{.text = std::move(outcome.text),
                  .finish = std::move(outcome.finish),
                  .turn = outcome.turn,
                  .usage = UsageOf(outcome.usage),
                  .warnings = std::move(outcome.warnings),
                  .error = std::move(outcome.error)};
  reply.usage.calls = outcome.calls;
  return reply;
}

}  // namespace

struct Conversation::Impl {
  // A program provides what its model should see; no configured command runs.
  class NoContext final : public chat::BlockSource {
   public:
    std::vector<chat::DeclaredCommand> Declared() const override { return {}; }
    Result<chat::Gathered> Gather(std::span<const std::size_t>, const chat::GatherLimits&,
                                  const CancelToken&) override {
      return chat::Gathered();
    }
  };

  explicit Impl(std::string folder) : store(std::move(folder)) {}

  chat::ConversationStore store;
  std::string id, system;
  config::Config config;
  driver::BoundModel model;
  NoContext context;
  std::unique_ptr<chat::Chat> chat;
};

Conversation::Conversation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Conversation::Conversation(Conversation&& other) noexcept = default;
Conversation& Conversation::operator=(Conversation&& other) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::Open(ChatOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(const auto model, ModelAccess::Of(options.model));
  DOSSIER_ASSIGN_OR_RETURN(config::Config config, app::LoadOwnConfig());
  if (options.folder.empty()) options.folder = config.user.data + "/conversations";
  auto impl = std::make_unique<Impl>(std::move(options.folder));
  impl->id = options.id.empty() ? chat::MakeId() : std::move(options.id);
  DOSSIER_RETURN_IF_ERROR(chat::CheckId(impl->id));
  DOSSIER_RETURN_IF_ERROR(impl->store.Find(impl->id));
  impl->system = std::move(options.system);
  impl->model = ChatModelOf(*model);
  chat::ChatParts parts{
      .store = &impl->store,
      .open_model = [own = impl->model](const std::string&) -> Result<driver::BoundModel> {
        return own;
      },
      .context = &impl->context};
  if (const Memory::Impl* memory = MemoryAccess::Of(options.memory)) {
    parts.memory.store = memory->store;
    parts.memory.branch = memory->branch;
  }
  DOSSIER_ASSIGN_OR_RETURN(parts.folders, app::UserAssetFolders(options.layouts_dir));
  parts.makers = SectionMakersOf(config);
  // A turn succeeds even if its journal cannot be written.
  if (auto journal = store::Journal::Open(config.user.data + "/runs")) {
    parts.journal = std::move(*journal);
    parts.limits = [limits = config.limits, kept = parts.journal] {
      return app::LimitsOfTurn(limits, *kept);
    };
  }
  impl->config = std::move(config);
  impl->chat = std::make_unique<chat::Chat>(std::move(parts));
  return Conversation(std::move(impl));
}

Result<ChatReply> Conversation::Send(std::string_view message, const SendOptions& options) {
  if (!impl_) return MovedFromChat();
  if (message.empty()) return MakeError(ErrorCode::kInvalidArgument, "the message is empty");
  chat::TurnRequest request{.id = impl_->id,
                            .prompt = std::string(message),
                            .system_text = impl_->system,
                            .asked_model = impl_->model.stored,
                            .compaction = app::LimitsOf(impl_->config.compaction),
                            .context_max_tokens = impl_->config.context_max_tokens};
  request.options.config_commands = chat::TurnOptions::ConfigCommands::kSkip;
  ChatWatch watch(options);
  chat::TurnOutcome outcome = impl_->chat->Send(request, watch, options.cancel);
  if (!outcome.conversation.empty()) impl_->id = outcome.conversation;
  return ChatReplyOf(std::move(outcome));
}

Result<std::vector<Message>> Conversation::History() const {
  if (!impl_) return MovedFromChat();
  DOSSIER_ASSIGN_OR_RETURN(const auto loaded, impl_->store.Find(impl_->id));
  std::vector<Message> out;
  if (!loaded) return out;
  for (const chat::StoredMessage& message : loaded->stored.messages) {
    out.push_back({.role = message.role, .text = message.Text()});
  }
  return out;
}

const std::string& Conversation::id() const {
  static const std::string none;
  return impl_ ? impl_->id : none;
}

}  // namespace dossier
