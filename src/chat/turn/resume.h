// Reads an unfinished turn from the journal, for `--resume-turn`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const InterruptedTurn turn,
//                            FindInterrupted(*journal, {.folder = folder, .id = "bug-12"}));
//   if (turn.answer) Save(*turn.answer);              // it had arrived: nothing is asked again
//   else if (turn.gathered) Ask(turn.prompt, *turn.gathered);   // no command runs again
//
// Thread-safety: functions over what they are given.

#ifndef DOSSIER_CHAT_TURN_RESUME_H_
#define DOSSIER_CHAT_TURN_RESUME_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "chat/context/gather.h"
#include "chat/store/store.h"
#include "model/client/client.h"
#include "store/journal.h"

namespace dossier::chat {

inline constexpr std::string_view kChatRun = "chat";  // `kind` of run.started

// A reply that was received and is to be saved.
struct AcceptedAnswer {
  std::string text, model, finish;
  std::vector<JsonObject> messages;  // to be stored behind the user's
  JsonObject usage;                  // as turns[].usage
  JsonArray tools;
  std::string with_block;  // the reply as it came, if it holds a memory block to apply
};
Json ToJson(const AcceptedAnswer& answer);
Result<AcceptedAnswer> AnswerOf(const Json& json);

struct InterruptedTurn {
  std::string run, prompt, status;    // status: of the run
  std::vector<std::string> programs;  // context commands that were about to run
  std::optional<Gathered> gathered;   // what they gave, if they came to their end
  std::optional<AcceptedAnswer> answer;
  std::vector<assembly::Block> images;  // that go with the prompt
};
// Images as the journal keeps them.
Json ImagesJson(const std::vector<assembly::Block>& images);
// One journal serves all folders of conversations, and two may hold the same id.
struct ConversationPlace {
  std::string folder, id;
};
// The newest turn of a conversation. Errors: kNotFound if the journal holds none, or if its texts
// were left out (--no-log).
Result<InterruptedTurn> FindInterrupted(store::Journal& journal, const ConversationPlace& place);
// The runs of all its turns, newest first.
Result<std::vector<std::string>> RunsOf(store::Journal& journal, const ConversationPlace& place);

// What a conversation leaves outside of its file, taken away when it is deleted: the words of its
// runs in the journal, and the contexts that refreshes replaced.
//
//   const ForgetParts parts{.store = store, .journal = journal.get(), .content_folder = folder};
//   DOSSIER_RETURN_IF_ERROR(ForgetTraces(parts, ids));
//   for (const std::string& id : ids) DOSSIER_RETURN_IF_ERROR(store.Delete(id, cancel));
//
// The files go last: what fails before can be tried again. Thread-safety: as Store.

struct ForgetParts {
  const Store& store;
  store::Journal* journal = nullptr;  // null: there is none
  std::string content_folder;         // as KeepReplacedContext
};

// Runs and contexts that a conversation which stays names too (a fork has those of its origin) are
// left alone; they go with the last one. Of a damaged file only what the journal knows is found.
// Errors: those of the journal and the content store.
Status ForgetTraces(const ForgetParts& parts, std::span<const std::string> ids);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_RESUME_H_
