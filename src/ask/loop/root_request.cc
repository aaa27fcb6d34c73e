#include "ask/loop/root_request.h"

#include <algorithm>
#include <span>

#include "ask/reply/reply_text.h"
#include "memory/blocks/reply.h"

namespace dossier::ask {
namespace {

// A stop sequence, for models whose reply ends where its first code block does.
constexpr std::string_view kBehindCode = "\n```\n";
constexpr std::int64_t kMoreRoom = 4;  // times what a reply had that was cut

std::optional<double> Temperature(const RunState& run, int attempt) {
  const std::span<const double> steps = run.policy.temperatures;
  if (steps.empty()) return run.request.temperature;
  const double base = run.request.temperature.value_or(steps[0]);
  if (attempt == 0) return base;
  return std::max(base, steps[std::min(static_cast<std::size_t>(attempt), steps.size() - 1)]);
}

// Tokens that the reply may have.
std::int64_t OutputOf(const RunState& run, const RootRequest& about) {
  if (about.max_output) return *about.max_output;
  return run.request.sampling.max_output.value_or(run.reserve_output());
}

model::Request MakeRequest(const RunState& run, const assembly::Assembled& prompt,
                           const RootRequest& about) {
  model::Request request;
  const BoundModel& root = run.options.root;
  request.model = root.name;
  request.messages = prompt.messages;
  request.sampling = run.request.sampling;
  request.sampling.max_output = OutputOf(run, about);
  if (const auto temperature = Temperature(run, about.attempt)) {
    request.sampling.temperature = temperature;
  }
  if (run.policy.stops_behind_code && about.purpose == model::Purpose::kRoot &&
      root.stops == BoundModel::Stops::kHonoured) {
    request.sampling.stop.emplace_back(kBehindCode);
  }
  if (about.temperature) request.sampling.temperature = about.temperature;
  request.sampling.first_tokens = about.first_tokens;
  if (!request.sampling.seed) {
    request.sampling.seed = run.request.seed + static_cast<std::uint64_t>(about.turn);
  }
  if (root.entry.grammar) request.sampling.grammar = about.grammar;
  request.purpose = about.purpose;
  request.turn = about.turn;
  request.deadline = run.request.deadline;
  request.idle_limit = run.request.idle_limit;
  request.estimated_tokens = prompt.tokens;
  return request;
}

// Sends it. A model that writes the same line for ever is stopped; what it wrote so far is its
// reply.
Result<model::Reply> Complete(RunState& run, model::Request request, model::Stage stage) {
  CancelSource stop(run.cancel);
  std::string so_far;
  bool stuck = false;
  memory::BlockFilter filter;
  const auto show = [&](const std::string& text) {
    if (!text.empty()) run.log.Delta(text);
  };
  auto reply = run.options.root.gate->Complete(
      std::move(request), run.ledger, stage, stop.token(), [&](std::string_view delta) {
        show(filter.Push(delta));
        so_far += delta;
        if (run.policy.repeats_itself && !stuck && delta.find('\n') != std::string_view::npos &&
            RepeatsLine(so_far)) {
          stuck = true;
          stop.Cancel("the reply repeats itself");
        }
      });
  show(filter.Finish());
  if (!reply && stuck && !run.cancel.cancelled()) {
    return model::Reply{.text = so_far, .finish = model::Finish::kLength};
  }
  return reply;
}

void LogReply(RunState& run, const RootRequest& about, const model::Reply& reply, std::int64_t ms) {
  run.log.Add(0, "reply.received",
              {{"purpose", model::PurposeName(about.purpose)},
               {"turn", about.turn},
               {"body", run.log.Body(reply.text)},
               {"finish", model::FinishName(reply.finish)},
               {"input", reply.usage.input},
               {"output", reply.usage.output},
               {"cached", reply.usage.cached},
               {"attempts", reply.attempts},
               {"ms", ms}});
  for (const std::string& warning : reply.warnings) run.log.Warn(0, "model", Json(warning));
}

// Nothing here asks for a block: code writes to memory by memory_write. The journal has the reply
// as it came.
void RemoveMemoryBlocks(RunState& run, model::Reply* reply) {
  memory::ParsedReply parsed = memory::RemoveBlocks(reply->text);
  if (!parsed.warnings.empty()) {
    run.log.Warn(0, "memory_block_removed",
                 Json("a memory block was removed from the reply, not applied"));
  }
  reply->text = std::move(parsed.payload);
}

}  // namespace

Result<model::Reply> AskRoot(RunState& run, const assembly::Assembled& prompt,
                             const RootRequest& about) {
  run.log.Add(0, "request.sent",
              {{"purpose", model::PurposeName(about.purpose)},
               {"turn", about.turn},
               {"model", run.options.root.name},
               {"messages", run.log.Messages(prompt.messages)},
               {"tokens", prompt.tokens}});
  const auto started = run.options.clock->Now();
  auto reply = Complete(run, MakeRequest(run, prompt, about), about.stage);
  const std::int64_t ms =
      std::chrono::duration_cast<Millis>(run.options.clock->Now() - started).count();
  if (reply) {
    LogReply(run, about, *reply, ms);
    RemoveMemoryBlocks(run, &*reply);
  } else {
    run.log.Add(0, "request.failed",
                {{"turn", about.turn},
                 {"kind", ErrorName(reply.error().code)},
                 {"message", reply.error().message},
                 {"ms", ms}});
  }
  return reply;
}

Result<model::Reply> AskAgain(RunState& run, const assembly::Assembled& prompt, RootRequest about,
                              model::Reply cut) {
  const assembly::Capability& limits = run.options.root.entry.capability;
  const std::int64_t had = OutputOf(run, about);
  const std::int64_t most = std::min(limits.max_output, limits.window - prompt.tokens);
  about.max_output = std::max(had, had < most / kMoreRoom ? had * kMoreRoom : most);
  run.log.Warn(0, "reply_cut",
               Json(fmt::format("a reply ({}) was cut; it is asked for again",
                                model::PurposeName(about.purpose))));
  auto again = AskRoot(run, prompt, about);
  if (!again && run.cancel.cancelled()) return again;
  if (!again || (IsCut(*again) && again->text.size() < cut.text.size())) return cut;
  return again;
}

bool IsCut(const model::Reply& reply) {
  return reply.finish == model::Finish::kLength || reply.finish == model::Finish::kCut ||
         reply.finish == model::Finish::kFilter;
}

// For extraction every cut is one: half a block is not run.
ReplyFinish FinishOf(const model::Reply& reply) {
  if (IsCut(reply)) return ReplyFinish::kLength;
  return reply.finish == model::Finish::kStop || reply.finish == model::Finish::kToolCalls
             ? ReplyFinish::kStop
             : ReplyFinish::kOther;
}

}  // namespace dossier::ask
