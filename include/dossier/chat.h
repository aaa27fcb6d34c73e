// A conversation that is stored in a file. The model sees all earlier messages; old turns are
// shortened when they no longer fit, and another process can continue the conversation.
//
// [example]
//   auto model = dossier::Model::Open("gpt-5-mini");
//   if (!model) return dossier::ExitCode(model.error().code);
//   auto conversation = dossier::Conversation::Open({.model = *model, .id = "bug-12"});
//   if (!conversation) return dossier::ExitCode(conversation.error().code);
//   auto reply = conversation->Send("Why does the build fail?", {.on_text = [](auto part) {
//                                     std::cout << part << std::flush;
//                                   }});
//   if (reply && reply->error) std::cerr << reply->error->message << "\n";
// [/example]
//
// Context commands from configuration files are not run here: the program sends what the model
// should see. Units: tokens. Errors of Open: kInvalidArgument (no model, a bad id), kDamaged (the
// file), kConfig and kRefused (the user's own configuration). Errors of Send: those of the file,
// kInvalidArgument. A failure of the model, also a used-up budget of the configuration (kLimit), is
// returned in ChatReply::error, together with the text that had arrived. Ownership: a Conversation
// owns nothing that outlives it except its file. Move-only. Thread-safety: one call at a time per
// Conversation; several Conversations, even of one file, may be used in several threads and
// processes. Callbacks come from another thread or from the caller's; they must not block or throw.

#ifndef DOSSIER_CHAT_H_
#define DOSSIER_CHAT_H_

#include <dossier/cancel.h>
#include <dossier/memory.h>
#include <dossier/model.h>
#include <dossier/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct ChatOptions {
  Model model;
  std::string id;      // conversation id, created if it does not exist; "": a new id
  std::string folder;  // folder of conversations; "": the user's own
  std::string system;  // system text of a new conversation
  Memory memory;       // none: no memory
  std::string layouts_dir;
};

struct SendOptions {
  std::function<void(std::string_view text)> on_text;  // parts of the reply as they arrive
  std::function<void(std::string_view line)> on_note;  // retries, and what was shortened
  CancelToken cancel;
};

struct ChatReply {
  std::string text;       // the text that arrived, even if incomplete
  std::string finish;     // "stop", "length", …
  std::int64_t turn = 0;  // turn number in the conversation, from 1
  Usage usage;
  std::vector<std::string> warnings;
  std::optional<Error> error;
};

class Conversation {
 public:
  static Result<Conversation> Open(ChatOptions options);

  Conversation(Conversation&& other) noexcept;
  Conversation& operator=(Conversation&& other) noexcept;
  ~Conversation();

  Result<ChatReply> Send(std::string_view message, const SendOptions& options = {});
  // Returns all messages, oldest first; empty until the first message is answered.
  Result<std::vector<Message>> History() const;
  const std::string& id() const;

 private:
  struct Impl;
  explicit Conversation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier

#endif  // DOSSIER_CHAT_H_
