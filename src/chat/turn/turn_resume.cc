// Resumes an interrupted turn where it stopped.

#include <algorithm>

#include "base/text/text.h"
#include "chat/document/wire.h"
#include "chat/turn/turn_driver.h"

namespace dossier::chat {
namespace {

bool IsSaved(const Stored* stored, const InterruptedTurn& turn) {
  return stored && std::any_of(stored->turns.begin(), stored->turns.end(), [&](const auto& one) {
           return one.run == turn.run && one.reply == TurnRecord::Reply::kComplete;
         });
}

bool IsLast(const Stored* stored, const InterruptedTurn& turn) {
  return stored && !stored->turns.empty() && stored->turns.back().run == turn.run;
}

bool EndsIncomplete(const Stored* stored) {
  return stored && !stored->turns.empty() &&
         stored->turns.back().reply == TurnRecord::Reply::kIncomplete;
}

}  // namespace

Status TurnDriver::FindWhatIsLeft() {
  const bool again = request_.resume == TurnRequest::Resume::kAgain;
  if (again && (!stored_ || TurnCount(*stored_) == 0)) {
    return MakeError(ErrorCode::kNotFound, "conversation '{}' has no turn to ask again",
                     request_.id);
  }
  const bool drops = again || EndsIncomplete(stored());
  Result<InterruptedTurn> left = MakeError(ErrorCode::kNotFound, "there is no journal");
  if (parts_.journal)
    left = FindInterrupted(*parts_.journal, {.folder = parts_.store->folder(), .id = request_.id});
  const bool ours = left && (!drops || IsLast(stored(), *left));
  if (drops && !ours) {
    // Only the file: it has what the user wrote.
    const StoredMessage& asked = stored_->messages[TurnBegin(*stored_, TurnCount(*stored_))];
    input_.prompt = asked.Text();
    input_.images = ImagesOf(asked);
    gathered_ = Gathered();
    return DropLastTurn();
  }
  if (!left) return tl::unexpected(left.error());
  if (!drops && (left->status == "final" || IsSaved(stored(), *left))) {
    return MakeError(ErrorCode::kNotFound, "the last turn of conversation '{}' is complete",
                     request_.id);
  }
  const bool asked_to_run = request_.options.refresh == TurnOptions::Refresh::kYes;
  if (!left->programs.empty() && !left->gathered && !asked_to_run) {
    return MakeError(ErrorCode::kFailed,
                     "the turn ended while its context commands ran ({}); whether they did their "
                     "work is not known, so they do not run a second time unasked: add "
                     "--refresh-context to --resume-turn, or ask again",
                     Join(left->programs, ", "));
  }
  input_.prompt = left->prompt;
  input_.images = left->images;
  if (drops) DOSSIER_RETURN_IF_ERROR(DropLastTurn());
  if (left->gathered) UseGathered(std::move(*left->gathered));
  if (!drops && left->answer) {
    answer_ = std::move(left->answer);
    outcome_.finish = answer_->finish;
  }
  if (request_.action == TurnRequest::Action::kSend && !again) {
    log_.Resume(left->run);
    Log("run.resumed", {});
  }
  return {};
}

// The turn is planned as if the last one had never existed; the save removes it from the file.
Status TurnDriver::DropLastTurn() {
  Document document = loaded_->document;
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t gone,
                           RemoveLastTurn(&document, input_.now));
  DOSSIER_ASSIGN_OR_RETURN(stored_, ReadStored(document));
  stored_->id = request_.id;
  replaces_ = request_.resume == TurnRequest::Resume::kAgain ? FinishedTurn::Replaces::kLast
                                                             : FinishedTurn::Replaces::kIncomplete;
  return {};
}

// Content that is in the system message since the conversation was made is not sent again.
void TurnDriver::UseGathered(Gathered gathered) {
  const bool made = stored_ && stored_->turns.empty() && stored_->context;
  if (made) {
    for (DeclaredCommand& command : gathered.commands) {
      if (command.origin == DeclaredCommand::Origin::kExec) {
        command.origin =
            DeclaredCommand::Origin::kConfig;  // frozen with those of the configuration
      }
    }
  }
  const auto need = NeedOf(stored(), gathered.commands, request_.options);
  if (need) {
    std::erase_if(gathered.blocks, [&](const ContextBlock& block) {
      return std::find(need->run.begin(), need->run.end(), block.command) == need->run.end();
    });
  }
  gathered_ = std::move(gathered);
}

}  // namespace dossier::chat
