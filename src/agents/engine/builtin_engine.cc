#include "agents/engine/builtin_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/engine/agent_tools.h"
#include "agents/git/state_folder.h"
#include "base/deadline.h"
#include "base/text/utf8.h"
#include "driver/caller.h"

namespace dossier::agents {
namespace {

using assembly::Block;
using assembly::Turn;

constexpr std::string_view kNudge =
    "Use a tool for the next step, or end the work with the tool for that.";
constexpr std::size_t kShownCall = 300;  // code points of a call or result in the transcript

const SecretValues kNoSecrets;

Turn ResultTurn(const model::ToolCall& call, std::string text) {
  return {.role = assembly::Role::kTool,
          .blocks = {{.type = Block::Type::kToolResult,
                      .text = std::move(text),
                      .call_id = call.id,
                      .tool_name = call.name}}};
}

// Puts a text on one line, so that no text from a model is alone on a line of the transcript.
std::string Shown(std::string_view text) {
  std::string line(utf8::Prefix(utf8::Sanitize(text), kShownCall));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

class Loop {
 public:
  Loop(const BuiltinEngineSpec& spec, const EngineJob& job, CappedFile out, TreeFiles files,
       const CancelToken& cancel)
      : spec_(spec),
        job_(job),
        out_(std::move(out)),
        files_(std::move(files)),
        tools_({.role = job.role,
                .root = job.worktree,
                .refuse_write = job.refuse_write,
                .commands = spec.commands,
                .environment = spec.environment,
                .degraded = spec.degraded},
               files_),
        specs_(tools_.Specs()),
        deadline_(cancel, job.time_limit, "time is up"),
        caller_(*spec.ledger, SystemClock()) {}

  Result<EngineOutcome> Run() {
    const auto started = SystemClock()->Now();
    const Status ended = Turns();
    if (!ended) DOSSIER_RETURN_IF_ERROR(Judge(ended.error()));
    if (tools_.ending()) DOSSIER_RETURN_IF_ERROR(WriteVerdict(*tools_.ending()));
    DOSSIER_ASSIGN_OR_RETURN(outcome_.out, out_.Finish());
    outcome_.took = std::chrono::duration_cast<Millis>(SystemClock()->Now() - started);
    return std::move(outcome_);
  }

 private:
  Status Turns() {
    int without_call = 0;
    for (std::int64_t turn = 1; turn <= kMaxTurns; ++turn) {
      DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, Ask(turn));
      turns_.push_back(model::AssistantTurn(reply));
      if (!reply.text.empty()) Note(fmt::format("turn {}: says {}", turn, Shown(reply.text)));
      if (reply.tool_calls.empty()) {
        if (++without_call == kMaxTurnsWithoutCall) return Good();
        turns_.push_back(
            {.role = assembly::Role::kUser, .blocks = {{.text = std::string(kNudge)}}});
      }
      for (const model::ToolCall& call : reply.tool_calls) Answer(turn, call);
      if (tools_.ending()) return Good();
    }
    outcome_.exit_code = 1;
    outcome_.reason =
        fmt::format("the {} did not end its work in {} turns", RoleName(job_.role), kMaxTurns);
    return {};
  }

  Status Good() {
    outcome_.exit_code = 0;
    return {};
  }

  Result<model::Reply> Ask(std::int64_t turn) {
    DOSSIER_ASSIGN_OR_RETURN(
        const assembly::Assembled prompt,
        job_.prompt->Messages({spec_.model.entry.capability, spec_.model.counter}, turns_, specs_));
    if (turn == 1) DOSSIER_RETURN_IF_ERROR(KeepPrompt(prompt.messages));
    model::Request request = driver::RequestTo(spec_.model, prompt, model::Purpose::kRoot);
    request.path = fmt::format("{}.{}", job_.task, RoleName(job_.role));
    request.turn = turn;
    driver::Called called = caller_.Ask(spec_.model, std::move(request), {}, deadline_.token());
    if (called.reply) {
      outcome_.usage = caller_.usage();
      for (const std::string& warning : called.reply->warnings) {
        outcome_.warnings.push_back(warning);
      }
      if (spec_.spent) spec_.spent();
    }
    return std::move(called.reply);
  }

  Status KeepPrompt(const assembly::Messages& messages) {
    std::string text = messages.SystemText();
    for (const Turn& turn : messages.turns) {
      text += fmt::format("\n\n[{}]\n{}", assembly::RoleName(turn.role), turn.Text());
    }
    return WriteStateFile(job_.prompt_path, text + "\n", Durability::kSurvivesCrash);
  }

  void Answer(std::int64_t turn, const model::ToolCall& call) {
    const std::string result = tools_.Answer(call, deadline_.token());
    Note(fmt::format("turn {}: {} {} -> {}", turn, Shown(call.name), Shown(ToJson(call.arguments)),
                     Shown(result)));
    turns_.push_back(ResultTurn(call, result));
  }

  void Note(const std::string& line) { noted_ = noted_ ? out_.Add(line + "\n") : noted_; }

  // Maps the error that ended the loop: a client's failure is the engine's; other errors are not.
  Status Judge(const Error& error) {
    if (deadline_.passed()) {
      outcome_.end = ProcessOutcome::End::kTimeout;
      outcome_.reason = fmt::format("the {} was stopped after {} s", RoleName(job_.role),
                                    job_.time_limit->count() / 1000);
      return {};
    }
    switch (error.code) {
      case ErrorCode::kCancelled:
        outcome_.end = ProcessOutcome::End::kCancelled;
        outcome_.reason = fmt::format("the {} was stopped", RoleName(job_.role));
        return {};
      case ErrorCode::kLimit:
      case ErrorCode::kTooLong:
      case ErrorCode::kConfig:
      case ErrorCode::kIo:
        return tl::unexpected(error);
      default:
        outcome_.exit_code = 1;
        outcome_.reason = error.message;
        return {};
    }
  }

  Status WriteVerdict(const AgentTools::Ending& ending) {
    if (job_.role == Role::kReviewer) {
      const bool approved = ending.verdict == "approved";
      const std::string line = ending.verdict == "rejected" ? "REJECTED"
                               : !approved                  ? "NEEDS_CHANGES"
                               : ending.token.empty()       ? "APPROVED"
                                                            : ending.token;
      DOSSIER_RETURN_IF_ERROR(out_.Add(line + "\n"));
      if (!approved && !ending.summary.empty()) {
        DOSSIER_RETURN_IF_ERROR(files_.Write(".agent/review.txt", ending.summary + "\n"));
      }
    } else {
      Note("summary: " + Shown(ending.summary));
    }
    return noted_;
  }

  const BuiltinEngineSpec& spec_;
  const EngineJob& job_;
  CappedFile out_;
  const TreeFiles files_;
  AgentTools tools_;
  const std::vector<assembly::ToolSpec> specs_;
  Deadline deadline_;
  driver::Caller caller_;
  std::vector<Turn> turns_;
  EngineOutcome outcome_;
  Status noted_;
};

}  // namespace

Result<EngineOutcome> BuiltinEngine::Run(const EngineJob& job, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(CappedFile out, CappedFile::Create(job.out_path, kNoSecrets));
  DOSSIER_ASSIGN_OR_RETURN(TreeFiles files, TreeFiles::Open(job.worktree));
  DOSSIER_RETURN_IF_ERROR(WriteStateFile(job.err_path, "", Durability::kSurvivesCrash));
  return Loop(spec_, job, std::move(out), std::move(files), cancel).Run();
}

}  // namespace dossier::agents
