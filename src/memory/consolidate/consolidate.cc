#include "memory/consolidate/consolidate.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

std::int64_t Length(std::string_view text) {
  return static_cast<std::int64_t>(utf8::CodePoints(text));
}

std::string KeyOf(const CompressRequest& request, const std::string& model) {
  return Sha256Hex(
      ToJson(JsonArray{request.text, request.max_chars, request.hint, request.context, model}));
}

// Splits a text into pieces of at most `most` code points, each ending at a line end if there is
// one in its second half.
std::vector<std::string_view> Pieces(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::string_view piece =
        utf8::Prefix(text, static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1)));
    if (piece.size() < text.size()) {
      const std::size_t line_end = piece.rfind('\n');
      if (line_end != std::string_view::npos && line_end > piece.size() / 2) {
        piece = piece.substr(0, line_end + 1);
      }
    }
    pieces.push_back(piece);
    text.remove_prefix(piece.size());
  }
  return pieces;
}

// Makes one pass over the whole text, in pieces that fit the model's window.
Result<std::string> Shortened(const Summarizer& summarizer, const CompressRequest& request,
                              std::string_view text, int& calls) {
  const std::vector<std::string_view> pieces = Pieces(text, summarizer.window_chars);
  std::vector<std::string> parts;
  for (const std::string_view piece : pieces) {
    ++calls;
    DOSSIER_ASSIGN_OR_RETURN(const std::string part,
                             summarizer.summarize({.purpose = SummaryRequest::Purpose::kCompress,
                                                   .text = std::string(piece),
                                                   .max_chars = std::max<std::int64_t>(
                                                       request.max_chars / std::ssize(pieces), 1),
                                                   .hint = request.hint,
                                                   .context = request.context}));
    parts.emplace_back(TrimSpace(part));
  }
  return Join(parts, "\n");
}

// Calls the model until the text fits or stops shrinking. Returns true if all calls succeeded.
bool Shorten(const Summarizer& summarizer, const CompressRequest& request, int most_passes,
             Compressed& made) {
  for (int pass = 0; pass < most_passes && Length(made.text) > request.max_chars; ++pass) {
    Result<std::string> shorter = Shortened(summarizer, request, made.text, made.calls);
    if (!shorter) {
      made.warnings.push_back({"summary_failed", shorter.error().message});
      return false;
    }
    if (shorter->empty() || Length(*shorter) >= Length(made.text)) break;
    made.text = *std::move(shorter);
  }
  return true;
}

constexpr std::uint64_t kRatedChars = 200;  // code points of a value shown for rating
constexpr int kUnimportant = 2;             // this importance or less: evicted
constexpr int kImportant = 4;  // this or more: kept, unless the pressure stays critical
constexpr std::string_view kAutoTag = "AUTO_CONSOLIDATE";

using Events = std::vector<const Record*>;  // oldest first

// Returns the length of the entry's line "key: value".
std::int64_t LineLength(const CoreEntry& entry) {
  return Length(entry.key) + 2 + Length(entry.value);
}

// Returns the model's summary, or else the texts, oldest first, one per line.
std::string SummaryOf(const Events& events, const std::string& kind, std::int64_t max_chars,
                      AnswerBook& answers) {
  std::vector<std::string> texts;
  for (const Record* event : events) texts.push_back(event->text);
  const std::string all = Join(texts, "\n");
  const std::optional<std::string> summary =
      answers.Summary({.text = all, .max_chars = max_chars, .hint = kind});
  return CutWithDots(summary ? *summary : all, max_chars);
}

Record SummaryRecord(Tier tier, const Events& events, const std::string& kind,
                     const std::string& summary) {
  return {
      .tier = tier,
      .kind = tier == Tier::kSummary ? "inherited_summary" : "",
      .text = fmt::format("Consolidated recall events [{}] (from {} to {}):\nEvent count: {}\n\n{}",
                          kind, FormatMicrosTime(events.front()->at),
                          FormatMicrosTime(events.back()->at), events.size(), summary),
      .tags = {"RECALL_CONSOLIDATED", std::string(kAutoTag), "kind:" + kind,
               fmt::format("event_count:{}", events.size())}};
}

// Returns the events to remove: all but the newest recall_max_events, if there are more than the
// threshold.
Events Surplus(Events events, const StoreLimits& limits) {
  const auto most = static_cast<std::size_t>(std::max(limits.recall_max_events, 0));
  const auto threshold = static_cast<std::size_t>(
      std::max(0.0, static_cast<double>(most) * limits.recall_consolidation_threshold));
  events.resize(events.size() > std::max(threshold, most) ? events.size() - most : 0);
  return events;
}

// Writes a summary for each kind and hides the events from the window only.
Result<RecallConsolidation> Replace(BranchTransaction& session, AnswerBook& answers, Tier tier,
                                    const Events& events) {
  RecallConsolidation done{.events = std::ssize(events)};
  std::map<std::string, Events> by_kind;
  for (const Record* event : events) {
    by_kind[event->kind].push_back(event);
    done.chars += Length(event->text);
  }
  for (const auto& [kind, group] : by_kind) {
    const std::string summary =
        SummaryOf(group, kind, session.limits().archival_max_chars, answers);
    DOSSIER_ASSIGN_OR_RETURN(const RecordWrite written,
                             session.Add(SummaryRecord(tier, group, kind, summary)));
    std::vector<std::int64_t> ids;
    for (const Record* event : group) ids.push_back(event->id);
    DOSSIER_RETURN_IF_ERROR(session.LinkSources(written.id, ids));
    DOSSIER_RETURN_IF_ERROR(session.Hide(ids, HideReason::kConsolidated));
  }
  return done;
}

struct RatedEntry {
  CoreEntry entry;
  int rating = 0;
  std::string reason;  // "rated 2 of 5"
};

// Rates own entries that may be evicted, by the model; without a model it uses the importance that
// they were given and stores nothing.
Result<std::vector<RatedEntry>> RateOwnCore(BranchTransaction& session, AnswerBook& answers) {
  DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
  std::vector<RatedEntry> rated;
  std::vector<RatedItem> items;
  for (const CoreEntry& entry : view.AllCore()) {
    if (!CountsForCore(entry, session.branch())) continue;
    rated.push_back({.entry = entry,
                     .rating = entry.importance,
                     .reason = fmt::format("importance {} of 5", entry.importance)});
    items.push_back({entry.key, std::string(utf8::Prefix(entry.value, kRatedChars))});
  }
  if (items.empty()) return rated;
  const std::optional<std::vector<int>> ratings = answers.Ratings(items);
  if (!ratings) return rated;
  for (std::size_t i = 0; i < rated.size(); ++i) {
    rated[i].rating = (*ratings)[i];
    rated[i].reason = fmt::format("rated {} of 5", rated[i].rating);
    DOSSIER_RETURN_IF_ERROR(session.RateCore(rated[i].entry.key, rated[i].rating));
  }
  return rated;
}

Status Evict(BranchTransaction& session, const RatedEntry& rated, Consolidation& done) {
  const CoreEntry& entry = rated.entry;
  DOSSIER_RETURN_IF_ERROR(
      session.Add({.tier = Tier::kArchival,
                   .text = fmt::format("Core evicted (auto): {}\n{}\nReason: {}", entry.key,
                                       entry.value, rated.reason),
                   .tags = {"CORE_EVICT", std::string(kAutoTag), "core_key:" + entry.key}}));
  DOSSIER_RETURN_IF_ERROR(session.DeleteCore(entry.key));
  ++done.core_items_evicted;
  done.freed_chars += LineLength(entry);
  return {};
}

// Removes the evicted entries from `rated`.
Status EvictUnimportant(BranchTransaction& session, std::vector<RatedEntry>& rated,
                        Consolidation& done) {
  for (const RatedEntry& one : rated) {
    if (one.rating <= kUnimportant) DOSSIER_RETURN_IF_ERROR(Evict(session, one, done));
  }
  std::erase_if(rated, [](const RatedEntry& one) { return one.rating <= kUnimportant; });
  return {};
}

Result<PressureLevel> LevelNow(BranchTransaction& session) {
  DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const Pressure pressure, MeasurePressure(view, session.limits()));
  return TidyLevel(pressure, session.limits());
}

// Evicts the least important first (by importance, then key) until the pressure is below high;
// evicts important entries only while it is critical.
Status Relieve(BranchTransaction& session, std::vector<RatedEntry> rated, Consolidation& done) {
  std::ranges::sort(rated, [](const RatedEntry& a, const RatedEntry& b) {
    return a.rating != b.rating ? a.rating < b.rating : a.entry.key < b.entry.key;
  });
  for (RatedEntry& one : rated) {
    DOSSIER_ASSIGN_OR_RETURN(const PressureLevel level, LevelNow(session));
    if (level < PressureLevel::kHigh) break;
    if (one.rating >= kImportant && level < PressureLevel::kCritical) break;
    one.reason += ", and memory was full";
    DOSSIER_RETURN_IF_ERROR(Evict(session, one, done));
  }
  return {};
}

Status EnforceBudget(BranchTransaction& session, Consolidation& done) {
  DOSSIER_ASSIGN_OR_RETURN(const View before, session.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> evicted, session.EnforceCoreBudget());
  for (const std::string& key : evicted) {
    const std::optional<CoreEntry> entry = before.Core(key);
    if (entry) done.freed_chars += LineLength(*entry);
  }
  done.core_items_evicted += std::ssize(evicted);
  return {};
}

}  // namespace

std::string CutWithDots(std::string_view text, std::int64_t max_chars) {
  max_chars = std::max<std::int64_t>(max_chars, 0);
  if (std::cmp_less_equal(text.size(), max_chars) || Length(text) <= max_chars) {
    return std::string(text);
  }
  if (max_chars < 4) return std::string(utf8::Prefix(text, static_cast<std::uint64_t>(max_chars)));
  return std::string(utf8::Prefix(text, static_cast<std::uint64_t>(max_chars - 3))) + "...";
}

Result<Compressed> Compress(Store& store, const Summarizer& summarizer,
                            const CompressRequest& request) {
  Compressed made{.text = request.text};
  if (Length(made.text) <= request.max_chars) return made;
  const std::string key = KeyOf(request, summarizer.model);
  bool keep = false;
  if (summarizer.summarize) {
    DOSSIER_ASSIGN_OR_RETURN(std::optional<std::string> kept, store.Remembered(key));
    if (kept) {
      made.text = *std::move(kept);
      return made;
    }
    keep = Shorten(summarizer, request, store.limits().max_compression_iterations, made);
  }
  if (Length(made.text) > request.max_chars) {
    made.text = CutWithDots(made.text, request.max_chars);
    made.warnings.push_back(
        {"summary_cut", fmt::format("the text was cut to {} characters", request.max_chars)});
  }
  if (keep) DOSSIER_RETURN_IF_ERROR(store.Remember(key, made.text));
  return made;
}

PressureLevel TidyLevel(const Pressure& pressure, const StoreLimits& limits) {
  PressureLevel by_core = PressureLevel::kLow;
  if (pressure.core_ratio >= limits.pressure_medium) by_core = PressureLevel::kMedium;
  if (pressure.core_ratio >= limits.pressure_high) by_core = PressureLevel::kHigh;
  if (pressure.core_ratio >= limits.pressure_critical) by_core = PressureLevel::kCritical;
  return std::max(pressure.level, by_core);
}

JsonObject ConsolidationJson(const Consolidation& done) {
  return {{"actions_taken", JsonArray(done.actions_taken.begin(), done.actions_taken.end())},
          {"freed_chars", done.freed_chars},
          {"core_items_evicted", done.core_items_evicted},
          {"recall_events_consolidated", done.recall_events_consolidated},
          {"new_pressure_level", PressureName(done.new_level)}};
}

Result<RecallConsolidation> ConsolidateRecall(BranchTransaction& session, AnswerBook& answers) {
  DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> window,
                           view.Window(std::numeric_limits<int>::max()));
  Events own;
  Events inherited;
  for (const Record& event : window) {
    (event.branch == session.branch() ? own : inherited).push_back(&event);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      RecallConsolidation done,
      Replace(session, answers, Tier::kArchival, Surplus(std::move(own), session.limits())));
  DOSSIER_ASSIGN_OR_RETURN(
      const RecallConsolidation more,
      Replace(session, answers, Tier::kSummary, Surplus(std::move(inherited), session.limits())));
  done.events += more.events;
  done.chars += more.chars;
  return done;
}

Result<Consolidation> ConsolidateIn(BranchTransaction& session, AnswerBook& answers,
                                    PressureLevel level) {
  Consolidation done;
  const auto note = [&](std::string_view action, std::int64_t count) {
    if (count > 0) done.actions_taken.push_back(fmt::format("{}:{}", action, count));
  };
  std::vector<RatedEntry> rated;
  if (level >= PressureLevel::kMedium) {
    DOSSIER_ASSIGN_OR_RETURN(rated, RateOwnCore(session, answers));
    note("evaluated_core_importance", std::ssize(rated));
  }
  if (level >= PressureLevel::kHigh) {
    DOSSIER_RETURN_IF_ERROR(EvictUnimportant(session, rated, done));
    note("evicted_core_items", done.core_items_evicted);
    DOSSIER_ASSIGN_OR_RETURN(const RecallConsolidation recall, ConsolidateRecall(session, answers));
    done.recall_events_consolidated = recall.events;
    done.freed_chars += recall.chars;
    note("consolidated_recall", recall.events);
  }
  if (level >= PressureLevel::kCritical) {
    DOSSIER_RETURN_IF_ERROR(Relieve(session, std::move(rated), done));
    DOSSIER_RETURN_IF_ERROR(EnforceBudget(session, done));
    done.actions_taken.emplace_back("enforced_core_budget");
  }
  DOSSIER_ASSIGN_OR_RETURN(const View after, session.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const Pressure pressure, MeasurePressure(after, session.limits()));
  done.new_level = pressure.level;
  return done;
}

Result<ConsolidateOutcome> Consolidate(Store& store, std::string_view branch,
                                       const ConsolidateRequest& request,
                                       const Summarizer& summarizer) {
  ConsolidateOutcome outcome;
  AnswerBook answers(summarizer);
  DOSSIER_RETURN_IF_ERROR(TransactAsking(
      store, branch, request.context, answers,
      [&](BranchTransaction& session, AnswerBook& book) -> Status {
        DOSSIER_ASSIGN_OR_RETURN(outcome.done, ConsolidateIn(session, book, request.level));
        return {};
      }));
  outcome.warnings = answers.warnings();
  return outcome;
}

Result<std::optional<ConsolidateOutcome>> ConsolidateIfNeeded(Store& store, std::string_view branch,
                                                              PressureLevel trigger,
                                                              const Summarizer& summarizer) {
  DOSSIER_ASSIGN_OR_RETURN(const View view, store.Snapshot(branch));
  DOSSIER_ASSIGN_OR_RETURN(const Pressure pressure, MeasurePressure(view, store.limits()));
  const PressureLevel level = TidyLevel(pressure, store.limits());
  if (level < trigger) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(ConsolidateOutcome outcome,
                           Consolidate(store, branch, {.level = level}, summarizer));
  return outcome;
}

namespace {

constexpr int kMostTries = 4;  // tries of a transaction; the last asks no model

bool AreRatings(const std::vector<int>& ratings, std::size_t count) {
  return ratings.size() == count &&
         std::ranges::all_of(ratings, [](int rating) { return rating >= 1 && rating <= 5; });
}

}  // namespace

std::optional<std::string> AnswerBook::Summary(const SummaryRequest& request) {
  if (!summarizer_.summarize) return std::nullopt;
  if (const auto found = summaries_.find(request); found != summaries_.end()) return found->second;
  if (!closed_) missing_summaries_.push_back(request);
  return std::nullopt;
}

std::optional<std::vector<int>> AnswerBook::Ratings(const std::vector<RatedItem>& items) {
  if (!summarizer_.rate) return std::nullopt;
  if (const auto found = ratings_.find(items); found != ratings_.end()) return found->second;
  if (!closed_) missing_ratings_.push_back(items);
  return std::nullopt;
}

void AnswerBook::Fetch(Store& store) {
  for (const SummaryRequest& request : std::exchange(missing_summaries_, {})) {
    FetchSummary(store, request);
  }
  for (const auto& items : std::exchange(missing_ratings_, {})) FetchRatings(items);
}

// Compresses a text that exceeds the model's window before, and a summary that is too long after.
Result<std::string> AnswerBook::AskSummary(Store& store, SummaryRequest request) {
  const auto shorten = [&](std::string text, std::int64_t most) -> Result<std::string> {
    DOSSIER_ASSIGN_OR_RETURN(
        Compressed made,
        Compress(
            store, summarizer_,
            {.text = std::move(text), .max_chars = most, .hint = request.hint, .context = {}}));
    std::ranges::move(made.warnings, std::back_inserter(warnings_));
    return std::move(made.text);
  };
  DOSSIER_ASSIGN_OR_RETURN(request.text,
                           shorten(std::move(request.text), summarizer_.window_chars));
  DOSSIER_ASSIGN_OR_RETURN(std::string summary, summarizer_.summarize(request));
  return shorten(std::move(summary), request.max_chars);
}

void AnswerBook::FetchSummary(Store& store, const SummaryRequest& request) {
  if (summaries_.contains(request)) return;
  Result<std::string> summary = AskSummary(store, request);
  if (summary && !summary->empty()) {
    summaries_[request] = *std::move(summary);
    return;
  }
  summaries_[request] = std::nullopt;
  warnings_.push_back({"summary_failed",
                       fmt::format("the model gave no summary, the texts stand for themselves: {}",
                                   summary ? "it was empty" : summary.error().message)});
}

void AnswerBook::FetchRatings(const std::vector<RatedItem>& items) {
  if (ratings_.contains(items)) return;
  Result<std::vector<int>> ratings = summarizer_.rate(items);
  if (ratings && AreRatings(*ratings, items.size())) {
    ratings_[items] = *std::move(ratings);
    return;
  }
  ratings_[items] = std::nullopt;
  warnings_.push_back(
      {"rating_failed",
       fmt::format("the model gave no ratings, each item counts by its own importance: {}",
                   ratings ? "not a number from 1 to 5 for each item" : ratings.error().message)});
}

Status TransactAsking(Store& store, std::string_view branch, const WriteContext& context,
                      AnswerBook& answers, const AskingWork& work) {
  for (int tries = 1;; ++tries) {
    if (tries == kMostTries) answers.Close();
    Status done = store.Transact(branch, context, [&](BranchTransaction& session) -> Status {
      DOSSIER_RETURN_IF_ERROR(work(session, answers));
      if (answers.lacks()) return MakeError(ErrorCode::kCancelled, "a model's answers are missing");
      return {};
    });
    const bool ask = !done && done.error().code == ErrorCode::kCancelled && answers.lacks();
    if (!ask) return done;
    answers.Fetch(store);
  }
}

JsonArray NoticesJson(const std::vector<Notice>& notices) {
  JsonArray list;
  for (const Notice& notice : notices) {
    list.push_back(JsonObject{{"name", notice.name}, {"text", notice.text}});
  }
  return list;
}

}  // namespace dossier::memory
