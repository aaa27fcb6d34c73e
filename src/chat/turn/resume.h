// Reads an unfinished turn from the journal, for `--resume-turn`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const InterruptedTurn turn,
//                            FindInterrupted(*journal, {.folder = folder, .id = "bug-12"}));
//   if (turn.answer) Save(*turn.answer);              // it had arrived: nothing is asked again
//   else if (turn.gathered) Ask(turn.prompt, *turn.gathered);   // no command runs again
//
// Thread-safety: functions over their arguments.

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

// A reply that was received and still has to be saved.
struct AcceptedAnswer {
  std::string text, model, finish;
  std::vector<JsonObject> messages;  // to be stored after the user's
  JsonObject usage;                  // in the form of turns[].usage
  JsonArray tools;
  std::string with_block;  // the raw reply, if it contains a memory block to apply
};
Json ToJson(const AcceptedAnswer& answer);
Result<AcceptedAnswer> AnswerOf(const Json& json);

struct InterruptedTurn {
  std::string run, prompt, status;    // `status` is that of the run
  std::vector<std::string> programs;  // context commands that were about to run
  std::optional<Gathered> gathered;   // their results, if they all finished
  std::optional<AcceptedAnswer> answer;
  std::vector<assembly::Block> images;  // sent with the prompt
};
// Converts images to the form in which the journal stores them.
Json ImagesJson(const std::vector<assembly::Block>& images);
// Identifies a conversation: one journal serves all folders, and two of them may hold the same id.
struct ConversationPlace {
  std::string folder, id;
};
// Finds the newest turn of a conversation. Errors: kNotFound if the journal has none, or if its
// texts were left out (--no-log).
Result<InterruptedTurn> FindInterrupted(store::Journal& journal, const ConversationPlace& place);
// Returns the runs of all its turns, newest first.
Result<std::vector<std::string>> RunsOf(store::Journal& journal, const ConversationPlace& place);

// Removes what a deleted conversation leaves outside its file: the texts of its runs in the
// journal, and the contexts that refreshes replaced.
//
//   const ForgetParts parts{.store = store, .journal = journal.get(), .content_folder = folder};
//   DOSSIER_RETURN_IF_ERROR(ForgetTraces(parts, ids));
//   for (const std::string& id : ids) DOSSIER_RETURN_IF_ERROR(store.Delete(id, cancel));
//
// Files are deleted last, so a failure before can be retried. Thread-safety: as Store.

struct ForgetParts {
  const ConversationStore& store;
  store::Journal* journal = nullptr;  // null: there is none
  std::string content_folder;         // as in KeepReplacedContext
};

// Runs and contexts that another remaining conversation also refers to (a fork has those of its
// origin) are left alone; they are removed with the last one. For a damaged file only what the
// journal knows is found. Errors: those of the journal and the content store.
Status ForgetTraces(const ForgetParts& parts, std::span<const std::string> ids);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_RESUME_H_
