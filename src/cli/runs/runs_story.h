// One run, told to a person: the question, what was sent, what came back and what it cost, turn by
// turn, and the answer.
//
//   RunStory story(*journal, {.turn = 2}, std::cout);
//   for (const store::Event& event : events) story.Tell(event);
//   story.End(status);   // where the run did not end by itself
//
// Everything from the journal is cleaned for a terminal. Thread-safety: none; one owner.

#ifndef DOSSIER_CLI_RUNS_RUNS_STORY_H_
#define DOSSIER_CLI_RUNS_RUNS_STORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "store/journal.h"

namespace dossier::cli {

struct StoryOptions {
  std::optional<std::int64_t> turn;  // only this one
  enum class Messages { kFirstLines, kWhole } messages = Messages::kFirstLines;
};

class RunStory {
 public:
  RunStory(store::Journal& journal, StoryOptions options, std::ostream& out)
      : journal_(journal), options_(options), out_(out) {}

  void Tell(const store::Event& event);
  // Of a run that still goes on, or whose process ended before it.
  void End(std::string_view status);

 private:
  void TellStart(const Json& data);
  void TellRequest(const Json& data);
  void TellReply(const Json& data);
  void TellFailure(const Json& data);
  void TellFinish(const Json& data);
  void TellSubcall(const Json& data, std::string_view result);
  void NoteMessages(const Json* list);
  void ShowMessages(const Json* list);
  void Show(std::string_view label, const Json* body);
  void ShowText(std::string_view label, std::string_view text);
  std::string FirstLine(const Json* body) const;
  bool whole() const { return options_.messages == StoryOptions::Messages::kWhole; }

  store::Journal& journal_;
  const StoryOptions options_;
  std::ostream& out_;
  std::int64_t turn_ = 0, calls_ = 0, input_ = 0, output_ = 0;
  std::map<std::int64_t, Json> messages_;  // by number
  std::map<std::int64_t, Json> prompts_;   // of sub-calls that wait for a reply, by request
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_STORY_H_
