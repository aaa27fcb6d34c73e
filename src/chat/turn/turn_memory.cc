#include "chat/turn/turn_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "chat/store/store.h"
#include "chat/turn/turn_driver.h"
#include "memory/blocks/reply.h"
#include "memory/blocks/rounds.h"
#include "memory/records/operations.h"

namespace dossier::chat {
namespace {

constexpr std::string_view kPhase = "chat";
constexpr std::string_view kUserTurn = "user_turn";
constexpr std::string_view kAssistantTurn = "assistant_turn";
constexpr std::string_view kOtherMethod = "outputs";  // a compaction that keeps the turns
constexpr std::size_t kLongestBranch = 128;

// Returns the record of the newest turn that has one.
const Json* LastRecord(const Stored* stored) {
  if (!stored) return nullptr;
  for (auto turn = stored->turns.rbegin(); turn != stored->turns.rend(); ++turn) {
    if (turn->memory.is_object()) return &turn->memory;
  }
  return nullptr;
}

// Returns "chat:ID.SEQ" in the characters that branches may have.
std::string ForkName(std::string_view id, memory::Seq at) {
  const std::string tail = fmt::format(".{}", at);
  std::string name = "chat:";
  for (const char c : id.substr(0, kLongestBranch - name.size() - tail.size())) {
    const bool plain = IsWordByte(c) || c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name + tail;
}

bool IsTurn(const memory::Record& event) {
  return event.kind == kUserTurn || event.kind == kAssistantTurn;
}

Result<std::vector<memory::Record>> TurnsOf(const memory::View& view,
                                            const std::string& conversation) {
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<memory::Record> events,
      view.Records({.tiers = {memory::Tier::kRecall}, .thread = conversation}));
  std::erase_if(events, [](const memory::Record& event) { return !IsTurn(event); });
  return events;
}

// Returns the turns that the history contains in full, by the conversation in which they happened.
std::map<std::string, std::set<std::int64_t>> TurnsInHistory(
    const Stored& stored, std::span<const CompactionRecord> added) {
  std::size_t compacted = 0;  // messages before this one are compacted
  const auto look = [&](const CompactionRecord& record) {
    if (record.method != kOtherMethod) compacted = std::max(compacted, record.to + 1);
  };
  std::ranges::for_each(stored.compaction, look);
  std::ranges::for_each(added, look);
  // Another program's messages have no record: the last record is that of the last user message.
  const std::int64_t before = TurnCount(stored) - std::ssize(stored.turns);
  std::map<std::string, std::set<std::int64_t>> turns;
  for (std::size_t i = 0; i < stored.turns.size(); ++i) {
    const TurnRecord& turn = stored.turns[i];
    if (!turn.memory.is_object()) continue;
    const std::int64_t place = before + static_cast<std::int64_t>(i) + 1;
    if (place < 1 || TurnBegin(stored, place) < compacted) continue;
    turns[TextAt(turn.memory, "conversation")].insert(turn.n);
  }
  return turns;
}

// Returns the part of a text that memory accepts.
std::string Fitting(std::string_view text, std::vector<std::string>* warnings) {
  std::string fit = utf8::Sanitize(text);
  if (fit.size() <= memory::kMaxTextBytes) return fit;
  warnings->push_back(fmt::format("memory keeps the first {} of {} bytes of this turn's text",
                                  memory::kMaxTextBytes, fit.size()));
  fit.resize(utf8::FloorBoundary(fit, memory::kMaxTextBytes));
  return fit;
}

// Writes the two events of a turn as `also` of its block.
class TurnEvents {
 public:
  explicit TurnEvents(const TurnMemory::KeptTurn& turn)
      : turn_(turn),
        ref_(turn.conversation.empty() ? turn.run : fmt::format("{}", turn.number)),
        user_(Fitting(turn.user, &warnings_)),
        assistant_(Fitting(turn.assistant, &warnings_)) {}

  Status Write(memory::BranchTransaction& session) {
    known_ = false;
    if (!turn_.conversation.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const memory::View view, session.Snapshot());
      DOSSIER_ASSIGN_OR_RETURN(const std::vector<memory::Record> turns,
                               TurnsOf(view, turn_.conversation));
      DOSSIER_RETURN_IF_ERROR(MakePlace(turns, session));
    }
    DOSSIER_RETURN_IF_ERROR(Add(kUserTurn, user_, session));
    return Add(kAssistantTurn, assistant_, session);
  }

  // True if this turn and the effects of its block are stored already: nothing was written.
  bool known() const { return known_; }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }

 private:
  // Removes turns with this or a later number: they were undone, or are asked again.
  Status MakePlace(const std::vector<memory::Record>& turns, memory::BranchTransaction& session) {
    std::vector<std::int64_t> old;
    for (const memory::Record& event : turns) {
      const std::optional<std::int64_t> number = ExactNumber<std::int64_t>(event.ref);
      if (!number || *number < turn_.number) continue;
      const std::string run = TextAt(event.meta, "run");
      const bool whole = !FindBool(event.meta, "incomplete").value_or(false);
      known_ |= *number == turn_.number && whole && !run.empty() && run == turn_.run;
      old.push_back(event.id);
    }
    if (known_) return MakeError(ErrorCode::kFailed, "the turn is kept already");
    return session.Hide(old, memory::HideReason::kSuperseded);
  }

  Status Add(std::string_view kind, const std::string& text,
             memory::BranchTransaction& session) const {
    if (TrimSpace(text).empty()) return {};
    memory::Record event{.tier = memory::Tier::kRecall,
                         .kind = std::string(kind),
                         .text = text,
                         .thread = turn_.conversation,
                         .ref = ref_};
    if (!turn_.run.empty()) event.meta["run"] = turn_.run;
    if (turn_.reply == TurnRecord::Reply::kIncomplete) event.meta["incomplete"] = true;
    return session.Add(std::move(event)).map([](const memory::RecordWrite&) {});
  }

  const TurnMemory::KeptTurn& turn_;
  std::vector<std::string> warnings_;
  const std::string ref_, user_, assistant_;
  bool known_ = false;
};

// Reports what a block could not do, one sentence each.
void Report(const memory::UpdateResult& result, std::vector<std::string>* warnings) {
  for (const memory::Notice& notice : result.warnings) {
    warnings->push_back("memory: " + notice.text);
  }
  for (const Json& entry : result.operations_log) {
    if (FindString(entry, "status") != "error") continue;
    warnings->push_back(
        fmt::format("memory: {}: {}", TextAt(entry, "type"), TextAt(entry, "error")));
  }
}

}  // namespace

Result<TurnMemory> TurnMemory::Open(driver::MemoryUse memory, std::string_view id,
                                    const Stored* stored, Use use) {
  if (use == Use::kPreview) memory.writes = driver::MemoryUse::Writes::kNo;
  const Json* record = LastRecord(stored);
  const bool ours = record && TextAt(*record, "store") == memory.store->store_id();
  const bool forks = memory.branch.empty() && ours && TextAt(*record, "conversation") != id;
  std::string branch = memory.branch;
  if (branch.empty() && ours && !forks) branch = TextAt(*record, "branch");
  TurnMemory turn(driver::MemoryPort(std::move(memory), branch, kPhase));
  if (forks) DOSSIER_RETURN_IF_ERROR(turn.ForkFrom(*record, id));
  // A missing branch is reported before anything is paid for.
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::View view, turn.Snapshot());
  return turn;
}

Status TurnMemory::ForkFrom(const Json& record, std::string_view id) {
  const memory::Seq at = FindInt(record, "seq").value_or(0);
  driver::MemoryPort parent(port_.use(), TextAt(record, "branch"), kPhase);
  if (!port_.writes()) {
    port_ = std::move(parent);
    at_ = at;
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(port_, parent.Fork(ForkName(id, at), at));
  return {};
}

std::string TurnMemory::Boundary(std::string_view id) const {
  return Sha256Hex(fmt::format("dossier-chat-memory:{}:{}", port_.store().store_id(), id))
      .substr(0, 32);
}

Result<memory::Injection> TurnMemory::Render(const memory::RenderRequest& request,
                                             const Stored* stored,
                                             std::span<const CompactionRecord> added) const {
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, Snapshot());
  memory::InjectionRequest injection{.render = request};
  if (stored) {
    for (const auto& [conversation, numbers] : TurnsInHistory(*stored, added)) {
      DOSSIER_ASSIGN_OR_RETURN(const std::vector<memory::Record> turns,
                               TurnsOf(view, conversation));
      for (const memory::Record& event : turns) {
        const std::optional<std::int64_t> number = ExactNumber<std::int64_t>(event.ref);
        if (number && numbers.contains(*number)) injection.elsewhere.insert(event.id);
      }
    }
  }
  return memory::Inject(view, port_.limits(), injection);
}

Result<TurnMemory::Kept> TurnMemory::Keep(const KeptTurn& turn) const {
  Kept kept;
  if (!port_.writes()) return kept;
  TurnEvents events(turn);
  const memory::UpdateBlock none;
  const bool has_block = turn.block && !turn.block->operations.empty();
  const memory::ApplyContext context{
      .block_id = turn.run,
      .actor = has_block ? memory::Actor::kModel : memory::Actor::kSystem,
      .also = [&events](memory::BranchTransaction& session) { return events.Write(session); }};
  const auto result = port_.Apply(turn.block ? *turn.block : none, context);
  if (!result && !events.known()) return tl::unexpected(result.error());
  kept.warnings = events.TakeWarnings();
  if (result && turn.block) {
    Report(*result, &kept.warnings);
    kept.applied = memory::BlockResultJson(*result);
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, port_.Snapshot());
  kept.record = JsonObject{{"store", port_.store().store_id()},
                           {"branch", port_.branch()},
                           {"conversation", turn.conversation},
                           {"seq", view.at()}};
  return kept;
}

// A turn's memory: rendered before the call, queried while the model answers, written by the save.

namespace {

// Share of the window, at most, beside memory.memory_budget_chars: a small model needs room.
constexpr std::int64_t kMemoryShare = 4;

}  // namespace

Status TurnDriver::OpenMemory() {
  if (!parts_.memory.store) return {};
  const bool preview = request_.action == TurnRequest::Action::kPlan ||
                       request_.options.store == TurnOptions::Store::kReadOnly;
  DOSSIER_ASSIGN_OR_RETURN(
      memory_, TurnMemory::Open(parts_.memory, request_.id, stored(),
                                preview ? TurnMemory::Use::kPreview : TurnMemory::Use::kTurn));
  outcome_.memory = JsonObject{{"branch", memory_->port().branch()}};
  input_.memory.help = memory::HelpText(memory::HelpForm::kShort);
  input_.memory.boundary = memory_->Boundary(request_.id);
  return MakeRoom();
}

// Runs before a render and after an applied block, never under the conversation's lock, because a
// model may be asked for summaries.
Status TurnDriver::MakeRoom() {
  DOSSIER_ASSIGN_OR_RETURN(const auto made, memory_->port().MakeRoom());
  if (!made) return {};
  for (const memory::Notice& warning : made->warnings) Warn("memory: " + warning.text);
  Log("memory.room", memory::ConsolidationJson(made->done));
  return {};
}

Status TurnDriver::RenderMemory() {
  if (!memory_) return {};
  memory::RenderRequest request = memory_->port().RequestFor(
      input_.prompt, *model_.counter, model_.entry.capability.window / kMemoryShare);
  request.stopwatch = parts_.clock.get();
  DOSSIER_ASSIGN_OR_RETURN(memory::Injection shown,
                           memory_->Render(request, stored(), input_.compaction));
  input_.memory.core = std::move(shown.core);
  input_.memory.rest = std::move(shown.rest);
  shown_memory_ = memory::AccountingJson(shown.accounting);
  outcome_.memory.as_object()["shown"] = shown_memory_;
  WarnUnlogged(memory_->port().Log({.op = "show",
                                    .layer = "prompt",
                                    .memory_type = "store",
                                    .run = log_.run(),
                                    .details = shown_memory_}));
  return {};
}

Result<model::Reply> TurnDriver::NextReply() {
  if (memory_) return ReplyInRounds();
  DOSSIER_ASSIGN_OR_RETURN(model::Reply reply, FinalReply());
  memory::ParsedReply parsed = memory::RemoveBlocks(reply.text);
  for (const memory::Notice& notice : parsed.warnings) Warn(notice.text);
  reply.text = std::move(parsed.payload);
  if (!TrimSpace(reply.text).empty() || parsed.warnings.empty()) return reply;
  return MakeError(ErrorCode::kNetwork,
                   "the model returned a memory block and no text; --memory turns memory on");
}

// The loop that all callers share. Reads are answered at once; writes of the accepted reply wait
// for the save of the turn.
Result<model::Reply> TurnDriver::ReplyInRounds() {
  model::Reply reply;
  with_block_.clear();
  const memory::RoundLimits limits{.read_rounds =
                                       parts_.memory.store->limits().max_memory_read_rounds};
  std::string last;
  const auto ask = [&](const memory::Ask& ask) -> Result<std::string> {
    DOSSIER_ASSIGN_OR_RETURN(last, AskInRound(ask, &reply));
    return last;
  };
  const auto accept = [](std::string_view) { return Status(); };
  const auto apply = [&](const memory::ParsedReply& parsed) -> Result<std::string> {
    for (const memory::Notice& notice : parsed.warnings) Warn(notice.text);
    if (!parsed.payload.empty()) {
      if (parsed.block) with_block_ = last;
      return std::string();
    }
    Log("memory.read", {{"input", parsed.block->input}});
    DOSSIER_ASSIGN_OR_RETURN(const memory::UpdateResult result,
                             memory_->port().Apply(*parsed.block, {}));
    LogOperations(result.operations_log);
    return memory::ResultsText(result.reads);
  };
  Result<memory::RoundsOutcome> done = memory::RunRounds(limits, ask, accept, apply);
  input_.memory.results.clear();
  input_.memory.feedback.clear();
  input_.memory.asked = MemoryTexts::Asked::kReply;
  // Text that the user has seen is not lost if a later round fails.
  if ((!done || done->failure) && !shown_text_.empty()) partial_ = shown_text_;
  if (!done) return tl::unexpected(done.error());
  memory::RoundsOutcome& rounds = *done;
  if (rounds.failure) {
    return MakeError(ErrorCode::kDamaged,
                     "no reply could be used after {} calls: {}: {}; their texts: dossier runs "
                     "show {}",
                     rounds.calls, rounds.failure->reason, rounds.failure->detail, log_.run());
  }
  if (!shown_text_.empty() && !rounds.reply.block) {
    Warn("the reply's memory block was not corrected; nothing of it is remembered");
  }
  shown_text_.clear();
  reply.text = std::move(rounds.payload);
  return reply;
}

// Makes one call. Text that the user has seen is not requested again: only the block is, and the
// two are joined.
Result<std::string> TurnDriver::AskInRound(const memory::Ask& ask, model::Reply* reply) {
  const bool first = ask.results.empty() && ask.feedback.empty();
  input_.memory.results = ask.results;
  input_.memory.feedback = ask.feedback;
  input_.memory.asked =
      shown_text_.empty() ? MemoryTexts::Asked::kReply : MemoryTexts::Asked::kBlockAlone;
  if (!first) {
    DOSSIER_ASSIGN_OR_RETURN(plan_, PlanTurn(input_, stored(), gathered_->blocks, layout_,
                                             model_.entry.capability, *model_.counter));
  }
  DOSSIER_ASSIGN_OR_RETURN(*reply, FinalReply());
  if (!shown_text_.empty()) return memory::FirstBlock(reply->text) + "\n\n" + shown_text_;
  const memory::ParsedReply parsed = memory::ParseReply(reply->text);
  if (parsed.fault && !TrimSpace(parsed.payload).empty()) shown_text_ = parsed.payload;
  return reply->text;
}

// Runs under the conversation's lock, right before its file is written. What memory refuses becomes
// a warning; the conversation is saved anyway.
Json TurnDriver::Remember(std::string_view conversation, std::int64_t number) {
  TurnMemory::KeptTurn turn{.conversation = std::string(conversation),
                            .number = number,
                            .run = log_.run(),
                            .user = input_.prompt,
                            .assistant = answer_->text,
                            .reply = completeness_};
  if (!answer_->with_block.empty()) {
    turn.block = memory::ParseReply(answer_->with_block).block;
  }
  Result<TurnMemory::Kept> kept = memory_->Keep(turn);
  if (!kept) {
    Warn("this turn is not in memory: " + kept.error().message);
    const bool locked = kept.error().code == ErrorCode::kLocked;
    outcome_.exit = ExitCode(locked ? ErrorCode::kLocked : ErrorCode::kFailed);
    return nullptr;
  }
  for (const std::string& warning : kept->warnings) Warn(warning);
  if (!kept->record.is_null()) {
    WarnUnlogged(
        memory_->port().Log({.op = "recall_append",
                             .layer = "turn",
                             .memory_type = "recall",
                             .run = log_.run(),
                             .details = {{"thread", turn.conversation}, {"turn", number}}}));
  }
  if (!kept->applied.empty()) {
    const Json* operations = kept->applied.if_contains("operations_log");
    if (operations && operations->is_array()) LogOperations(operations->as_array());
    outcome_.memory.as_object()["block"] = kept->applied;
    Log("memory.applied", std::move(kept->applied));
  }
  return std::move(kept->record);
}

void TurnDriver::LogOperations(const JsonArray& operations_log) {
  WarnUnlogged(memory_->port().LogOperations({.run = log_.run()}, operations_log));
}

void TurnDriver::WarnUnlogged(const Status& logged) {
  if (!logged) Warn("the use of memory is not logged: " + logged.error().message);
}

void TurnDriver::RememberStateless() {
  if (memory_) Remember("", 1);
  MakeRoomAfterBlock();
}

void TurnDriver::MakeRoomAfterBlock() {
  if (!memory_ || !Find(outcome_.memory, "block")) return;
  if (const Status made = MakeRoom(); !made) Warn("memory made no room: " + made.error().message);
}

}  // namespace dossier::chat
