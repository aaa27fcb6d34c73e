#include "ask/loop/root_request.h"

#include <algorithm>
#include <array>
#include <span>

#include "ask/reply/reply_text.h"
#include "ask/spend_permit.h"
#include "ask/subcalls/map_plan.h"
#include "ask/subcalls/subcalls.h"
#include "base/text/text.h"
#include "memory/blocks/reply.h"

namespace dossier::ask {
namespace {

// A stop sequence for models whose reply ends after its first code block.
constexpr std::string_view kBehindCode = "\n```\n";
constexpr std::int64_t kMoreRoom = 4;  // factor on the size of a reply that was cut off

std::optional<double> Temperature(const RunState& run, int attempt) {
  const std::span<const double> steps = run.policy.temperatures;
  if (steps.empty()) return run.request.temperature;
  const double base = run.request.temperature.value_or(steps[0]);
  if (attempt == 0) return base;
  return std::max(base, steps[std::min(static_cast<std::size_t>(attempt), steps.size() - 1)]);
}

// Returns the tokens that the reply may have.
std::int64_t OutputOf(const RunState& run, const RootRequest& about) {
  if (about.max_output) return *about.max_output;
  return run.root.sampling.max_output.value_or(run.reserve_output());
}

model::Request MakeRequest(const RunState& run, const assembly::Assembled& prompt,
                           const RootRequest& about) {
  const driver::BoundModel& root = run.root;
  model::Request request = driver::RequestTo(root, prompt, about.purpose);
  request.sampling.max_output = OutputOf(run, about);
  if (const auto temperature = Temperature(run, about.attempt)) {
    request.sampling.temperature = temperature;
  }
  if (run.policy.stops_behind_code && about.purpose == model::Purpose::kRoot &&
      root.stops == driver::BoundModel::Stops::kHonoured) {
    request.sampling.stop.emplace_back(kBehindCode);
  }
  if (about.temperature && root.entry.Takes("temperature")) {
    request.sampling.temperature = about.temperature;
  }
  request.sampling.first_tokens = about.first_tokens;
  // Readings of one text differ by their turn even if the user gives a seed: with the same seed
  // they would all be equal.
  const auto turn = static_cast<std::uint64_t>(about.turn);
  if (!request.sampling.seed) {
    // A seed that the user did not give is a wish: nothing is said of a model that takes none.
    const bool given = run.request.seed_from == AskRequest::Seed::kGiven;
    if (given || root.entry.Takes("seed")) request.sampling.seed = run.request.seed + turn;
  } else if (about.purpose == model::Purpose::kRead) {
    *request.sampling.seed += turn;
  }
  if (root.entry.grammar) request.sampling.grammar = about.grammar;
  if (about.schema) request.schema = *about.schema;
  request.turn = about.turn;
  request.path = run.place.path;
  return request;
}

// Returns the name and tokens of each section in a prompt, from its report.
JsonArray SectionsOf(const Json& report) {
  JsonArray kept;
  const Json* sections = Find(report, "sections");
  for (const Json& section :
       sections && sections->is_array() ? sections->get_array() : JsonArray()) {
    const auto tokens = FindInt(section, "tokens");
    if (tokens.value_or(0) == 0) continue;
    kept.push_back(JsonArray{TextAt(section, "name"), *tokens});
  }
  return kept;
}

// Returns everything that was meant for a prompt, to explain it: where each section comes from,
// what was left of it and why. Empty sections are omitted.
JsonArray PartsOf(const Json& report) {
  JsonArray parts;
  const Json* sections = Find(report, "sections");
  for (const Json& section :
       sections && sections->is_array() ? sections->get_array() : JsonArray()) {
    const std::string outcome = TextAt(section, "outcome");
    if (outcome == "absent" || outcome == "empty") continue;
    JsonObject part{{"name", TextAt(section, "name")},
                    {"zone", TextAt(section, "zone")},
                    {"role", TextAt(section, "role")},
                    {"tokens", FindInt(section, "tokens").value_or(0)},
                    {"outcome", outcome}};
    const auto note = [&](std::string_view name, std::string_view from) {
      const Json* value = Find(section, from);
      if (value && !value->is_null()) part[name] = *value;
    };
    if (outcome != "kept") {
      note("wanted", "tokens_wanted");
      note("why", "reason");
      note("left_out", "left_out");
    }
    if (const Json* source = Find(section, "provenance"); source && *source != JsonObject()) {
      part["source"] = *source;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Returns what the journal stores about a request besides its messages.
JsonObject SentOf(RunState& run, const RootRequest& about, const assembly::Assembled& prompt,
                  const std::string& hash) {
  JsonObject sent{{"purpose", model::PurposeName(about.purpose)},
                  {"turn", about.turn},
                  {"model", run.root.name},
                  {"tokens", prompt.tokens},
                  {"sections", SectionsOf(prompt.report)},
                  {"parts", PartsOf(prompt.report)},
                  {"hash", hash}};
  if (!about.hint.empty()) sent["hint"] = run.log.Body(about.hint);
  return sent;
}

// A request is recorded when it leaves the gate, not when it starts to wait there: most children of
// a batch wait, and if the process is killed then, it has not sent those requests.
class SentRecord {
 public:
  SentRecord(RunState& run, JsonObject sent, const assembly::Messages& messages)
      : run_(run), waits_(std::move(sent)), messages_(messages) {}

  // Called in the thread that releases the request; the second call does nothing.
  void Write() {
    if (!waits_) return;
    JsonObject sent = std::move(*waits_);
    waits_.reset();
    run_.log.AddSent(std::move(sent), "messages", messages_);
  }
  // For a request that was never sent: writes what `request.sent` would contain.
  void WriteUnsent(JsonObject failed) {
    if (!waits_) return run_.log.Add("request.failed", std::move(failed));
    for (auto& [key, value] : failed) (*waits_)[key] = std::move(value);
    (*waits_)["unsent"] = true;
    (*waits_)["messages"] = run_.log.log().Unsent(messages_);
    run_.log.Add("request.failed", std::move(*waits_));
    waits_.reset();
  }

 private:
  RunState& run_;
  std::optional<JsonObject> waits_;  // unset once it is written
  const assembly::Messages& messages_;
};

void LogReply(RunState& run, const RootRequest& about, const driver::Called& called,
              const std::string& hash, SentRecord* sent) {
  JsonObject data{{"purpose", model::PurposeName(about.purpose)},
                  {"turn", about.turn},
                  {"ms", called.took.count()},
                  {"hash", hash}};
  if (!called.reply) {
    data["kind"] = ErrorName(called.reply.error().code);
    data["message"] = called.reply.error().message;
    if (about.partial && !called.partial.empty()) data["partial"] = run.log.Body(called.partial);
    return sent->WriteUnsent(std::move(data));
  }
  sent->Write();  // for a gate that already knows the reply
  const model::Reply& reply = *called.reply;
  AddReply(reply, [&](std::string_view text) { return run.log.Body(text); }, &data);
  run.log.Add("reply.received", std::move(data));
  for (const std::string& warning : reply.warnings) run.log.Warn("model", Json(warning));
}

// No prompt here asks for such a block: code writes memory with memory_write. The journal has the
// original reply.
void RemoveMemoryBlocks(RunState& run, model::Reply* reply) {
  memory::ParsedReply parsed = memory::RemoveBlocks(reply->text);
  if (!parsed.warnings.empty()) {
    run.log.Warn("memory_block_removed",
                 Json("a memory block was removed from the reply, not applied"));
  }
  reply->text = std::move(parsed.payload);
}

}  // namespace

CallEstimate EstimateRoot(const RunState& run, const assembly::Assembled& prompt,
                          const RootRequest& about) {
  CallEstimate one =
      EstimateOf(run.options.root.entry, MakeRequest(run, prompt, about), prompt.tokens);
  one.estimated = !prompt.tokens_exact;
  return one;
}

Result<model::Reply> AskRoot(RunState& run, const assembly::Assembled& prompt,
                             const RootRequest& about) {
  SpendPermit permit;
  if (run.guard.armed()) {
    DOSSIER_ASSIGN_OR_RETURN(permit, run.guard.Allow(EstimateRoot(run, prompt, about)));
  }
  CancelSource stop(run.cancel);
  bool stuck = false;
  memory::BlockFilter filter;
  const auto show = [&](const std::string& text) {
    if (!text.empty()) run.log.Delta(text);
  };
  model::Request request = MakeRequest(run, prompt, about);
  const std::string hash = RequestHash(request, run.NameOf(run.root));
  SentRecord sent(run, SentOf(run, about, prompt, hash), prompt.messages);
  if (run.log.HasAnswered(model::PurposeName(about.purpose))) sent.Write();
  driver::CallHooks hooks{.leaves = [&] {
    if (permit) permit->Left();
    sent.Write();
  }};
  hooks.on_delta = [&](std::string_view delta, std::string_view so_far) {
    show(filter.Push(delta));
    if (run.policy.repeats_itself && !stuck && delta.find('\n') != std::string_view::npos &&
        RepeatsLine(so_far)) {
      stuck = true;
      stop.Cancel("the reply repeats itself");
    }
  };
  driver::Called called =
      run.caller.Ask(run.root, std::move(request), hooks, stop.token(), about.stage);
  show(filter.Finish());
  // A model that repeated the same line was stopped: what it wrote so far is its reply.
  if (!called.reply && stuck && !run.cancel.cancelled()) {
    called.reply = model::Reply{.text = called.partial, .finish = model::Finish::kLength};
  }
  LogReply(run, about, called, hash, &sent);
  if (!called.reply && about.partial) *about.partial = std::move(called.partial);
  if (called.reply) RemoveMemoryBlocks(run, &*called.reply);
  return std::move(called.reply);
}

Result<model::Reply> AskAgain(RunState& run, assembly::Assembled prompt, RootRequest about,
                              model::Reply cut) {
  const assembly::Capability& limits = run.root.entry.capability;
  const std::int64_t had = OutputOf(run, about);
  const std::int64_t most = std::min(limits.max_output, limits.window - prompt.tokens);
  about.max_output = std::max(had, had < most / kMoreRoom ? had * kMoreRoom : most);
  // The same request would be cut off at the same place again.
  if (cut.finish == model::Finish::kLength && *about.max_output == had) {
    DOSSIER_ASSIGN_OR_RETURN(
        std::string ask,
        run.prompts.Text("reply_cut", {{"tokens", GroupCount(had)}}, run.boundary));
    prompt.tokens += run.root.counter->CountText(ask).upper();
    prompt.messages.turns.back().blocks.push_back({.text = std::move(ask)});
    about.max_output =
        std::clamp<std::int64_t>(limits.window - prompt.tokens, 1, *about.max_output);
  }
  const std::string_view purpose = model::PurposeName(about.purpose);
  WarnOfCut(run, cut, fmt::format("a reply ({}): {{}}; it is asked for again", purpose));
  auto again = AskRoot(run, prompt, about);
  if (!again && run.cancel.cancelled()) return again;
  if (!again || (IsCut(*again) && again->text.size() < cut.text.size())) return cut;
  return again;
}

std::optional<double> AskYesOrNo(RunState& run, const assembly::Assembled& prompt) {
  constexpr int kCandidates = 20;  // for the first token: the most that servers return
  const auto reply = AskRoot(run, prompt,
                             {.purpose = model::Purpose::kRead,
                              .turn = 0,
                              .max_output = 1,
                              .temperature = 0.0,
                              .first_tokens = kCandidates});
  if (!reply) return std::nullopt;
  const std::array<std::string, 2> labels = {"yes", "no"};
  const auto scores = ScoreLabels(reply->first_tokens, labels);
  if (!scores) return std::nullopt;
  return (*scores)[0] - (*scores)[1];
}

std::string AskKindOfAnswer(RunState& run, int turn) {
  if (!run.policy.holds_to_grammar || !run.root.entry.grammar) return {};
  constexpr std::int64_t kTokens = 8;
  const auto prompt = run.prompts.Assemble(
      "answer_kind", run.root, {{"question", run.request.question}}, {}, run.boundary, kTokens);
  if (!prompt) return {};
  const auto reply = AskRoot(
      run, *prompt,
      {.purpose = model::Purpose::kClassify,
       .turn = turn,
       .max_output = kTokens,
       .grammar = "root ::= \"number\" | \"name\" | \"yes or no\" | \"date\" | \"sentence\""});
  return reply ? std::string(TrimSpace(reply->text)) : std::string();
}

bool IsCut(const model::Reply& reply) {
  return reply.finish != model::Finish::kStop && reply.finish != model::Finish::kToolCalls &&
         reply.finish != model::Finish::kOther;
}

std::string WarnOfCut(const RunState& run, const model::Reply& cut, std::string_view what) {
  const ReplyEnding ending = EndingOf(cut, cut.text);
  std::string said = fmt::format(fmt::runtime(what), ending.problem);
  run.log.Warn("reply_" + ending.kind, Json(said));
  return said;
}

// For extraction, every kind of cut counts: half a block is not run.
ReplyFinish FinishOf(const model::Reply& reply) {
  if (IsCut(reply)) return ReplyFinish::kLength;
  return reply.finish == model::Finish::kStop || reply.finish == model::Finish::kToolCalls
             ? ReplyFinish::kStop
             : ReplyFinish::kOther;
}

}  // namespace dossier::ask
