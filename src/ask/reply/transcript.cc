#include "ask/reply/transcript.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "ask/reply/truncation.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kKeepFirst = 1;  // the first reply
// The newest two turns: with the output being sent, these are two replies and one output.
constexpr std::size_t kKeepLast = 3;
// For three turns; the third output is the one being sent.
constexpr std::size_t kFreshOutputs = 2;

std::string ReplyId(int turn) { return fmt::format("reply {}", turn); }
std::string OutputId(int turn) { return fmt::format("output {}", turn); }

// Returns "3" for "output 3".
std::string_view NumberOf(std::string_view id) { return id.substr(id.rfind(' ') + 1); }

// An output belongs to the turn after the one that produced it.
int TurnOf(std::string_view id) {
  const int number = std::atoi(std::string(NumberOf(id)).c_str());
  return id.starts_with("output") ? number + 1 : number;
}

constexpr int kCutRounds = 4;  // a text's tokens are not proportional to its characters

// Returns the maximum for each, so that all together have at most `room`.
std::int64_t FairShare(std::vector<std::int64_t> wanted, std::int64_t room) {
  std::sort(wanted.begin(), wanted.end());
  auto left = static_cast<std::int64_t>(wanted.size());
  for (const std::int64_t tokens : wanted) {
    if (tokens * left > room) return room / left;
    room -= tokens;
    --left;
  }
  return wanted.empty() ? 0 : wanted.back();
}

std::string CutTo(const std::string& text, std::int64_t tokens, std::int64_t most) {
  const double share = static_cast<double>(most) / static_cast<double>(tokens);
  const auto chars =
      static_cast<std::uint64_t>(share * static_cast<double>(utf8::CodePoints(text)));
  return TruncateCodeOutput(text, {.max_chars = chars, .cut = Cut::kMiddle});
}

std::string Label(std::string_view id) {
  return fmt::format("[{} of turn {}]", id.substr(0, id.find(' ')), NumberOf(id));
}

}  // namespace

void Transcript::Add(std::string id, assembly::Role role, std::string text, std::string output_of) {
  assembly::HistoryTurn turn{.id = std::move(id), .turn = {.role = role}};
  turn.tokens = style_.counter.CountText(text).tokens + style_.tokens_per_message;
  turn.output_of = std::move(output_of);
  turn.turn.blocks.push_back({.text = std::move(text), .section = "history"});
  turns_.push_back(std::move(turn));
}

void Transcript::AddReply(int turn, std::string text) {
  Add(ReplyId(turn), assembly::Role::kAssistant, std::move(text), "");
}

void Transcript::AddOutput(int turn, std::string text, std::string shorter) {
  shorter_[OutputId(turn)] = std::move(shorter);
  Add(OutputId(turn), assembly::Role::kUser, std::move(text), ReplyId(turn));
}

void Transcript::Clear() {
  turns_.clear();
  shorter_.clear();
  compaction_ = {};
}

std::string Transcript::Short(const assembly::HistoryTurn& turn) const {
  const auto shorter = shorter_.find(turn.id);
  const auto place = places_.find(turn.id);
  return fmt::format("{}\n\n[Shortened. The whole message is history[{}].]",
                     shorter == shorter_.end() ? "" : shorter->second,
                     place == places_.end() ? moved_.size() : place->second);
}

assembly::CompactionPolicy Transcript::Policy(const Room& room) const {
  return {.start = room.start,
          .target = room.target,
          .keep_first = kKeepFirst,
          .keep_last = kKeepLast,
          .fresh_exchanges = kFreshOutputs,
          .summary_tokens = style_.summary_tokens,
          .count =
              [this](std::string_view text) {
                return style_.counter.CountText(text).tokens + style_.tokens_per_message;
              },
          .shorten = [this](const assembly::HistoryTurn& turn) { return Short(turn); }};
}

assembly::Section Transcript::AsSection() const {
  assembly::Section section{.name = "history"};
  section.turns = assembly::CompactedView(turns_, compaction_, Policy({}));
  if (turns_.empty()) return section;
  JsonObject provenance{{"kind", "history"},
                        {"reference", fmt::format("turns {} to {}", NumberOf(turns_.front().id),
                                                  NumberOf(turns_.back().id))}};
  if (!compaction_.empty()) {
    JsonArray summaries;
    for (const auto& summary : compaction_.summaries) {
      summaries.push_back(JsonObject{{"first", summary.first},
                                     {"last", summary.last},
                                     {"tokens_before", summary.tokens_before},
                                     {"tokens_after", summary.tokens_after}});
    }
    provenance["compaction"] =
        JsonObject{{"shortened", boost::json::value_from(compaction_.shortened)},
                   {"summaries", std::move(summaries)}};
  }
  section.provenance = std::move(provenance);
  return section;
}

assembly::CompactionPlan Transcript::Plan(const Room& room) const {
  return assembly::PlanCompaction(turns_, compaction_, Policy(room));
}

std::int64_t Transcript::tokens() const { return Plan({}).tokens_before; }

Transcript::Told Transcript::ToTell(const assembly::CompactionPlan& plan, std::int64_t room) const {
  std::map<std::string, const assembly::HistorySummary*, std::less<>> told;  // by id
  for (const auto& summary : compaction_.summaries) {
    for (const auto& turn : assembly::Covered(turns_, summary)) told[turn.id] = &summary;
  }
  std::vector<std::string> parts;
  const assembly::HistorySummary* newest = nullptr;
  for (const assembly::HistoryTurn& turn : assembly::Covered(turns_, plan)) {
    const auto found = told.find(turn.id);
    if (found == told.end()) {
      parts.push_back(fmt::format("{}\n{}", Label(turn.id), TrimSpace(turn.turn.Text())));
    } else if (found->second != newest) {
      newest = found->second;
      parts.push_back(newest->text);
    }
  }
  Told out{.text = Join(parts, "\n\n")};
  const auto count = [this](std::string_view text) {
    return style_.counter.CountText(text).tokens;
  };
  std::vector<std::int64_t> wanted;
  for (const std::string& part : parts) wanted.push_back(count(part) + style_.tokens_per_message);
  std::int64_t left = room;
  for (int round = 0; round < kCutRounds && count(out.text) > room; ++round) {
    const std::int64_t most = FairShare(wanted, left);
    std::vector<std::string> shorter = parts;
    out.cut = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (wanted[i] <= most) continue;
      shorter[i] = CutTo(parts[i], wanted[i], most);
      ++out.cut;
    }
    out.text = Join(shorter, "\n\n");
    left = left * 3 / 4;
  }
  return out;
}

std::string Transcript::TurnsOf(const assembly::CompactionPlan& plan) const {
  const int first = TurnOf(plan.first), last = TurnOf(plan.last);
  return first == last ? std::to_string(first) : fmt::format("{} to {}", first, last);
}

void Transcript::MoveOut(std::string_view id) {
  if (places_.contains(id)) return;
  const auto turn = std::find_if(turns_.begin(), turns_.end(),
                                 [id](const assembly::HistoryTurn& one) { return one.id == id; });
  if (turn == turns_.end()) return;
  places_.emplace(id, moved_.Add(fmt::format("{}\n{}", Label(id), turn->turn.Text())));
}

void Transcript::MoveOutUnsent(const assembly::Messages& sent) {
  std::unordered_set<std::string_view> texts;
  for (const assembly::Turn& turn : sent.turns) {
    for (const assembly::Block& block : turn.blocks) texts.insert(block.text);
  }
  for (const assembly::HistoryTurn& turn : turns_) {
    if (!texts.contains(turn.turn.blocks.front().text)) MoveOut(turn.id);
  }
}

// Shortens the summary, because a model may exceed the requested length.
std::string Transcript::Bounded(std::string_view summary) const {
  const auto cut = style_.counter.LongestPrefix(summary, style_.summary_tokens);
  if (cut.bytes >= summary.size()) return std::string(summary);
  return fmt::format("{}\n[the summary was cut here]", summary.substr(0, cut.bytes));
}

Status Transcript::Apply(const assembly::CompactionPlan& plan, std::string_view summary) {
  for (const std::string& id : plan.shorten) MoveOut(id);
  std::string told;
  if (plan.step == assembly::CompactionPlan::Step::kSummarize) {
    for (const assembly::HistoryTurn& turn : assembly::Covered(turns_, plan)) MoveOut(turn.id);
    const std::string turns = TurnsOf(plan);
    told = summary.empty()
               ? fmt::format("[Turns {} are left out here; `history` holds their messages.]", turns)
               : assembly::FenceData(
                     fmt::format("Summary of turns {}, whose messages are in `history`", turns),
                     Bounded(summary), style_.boundary);
  }
  DOSSIER_ASSIGN_OR_RETURN(compaction_,
                           assembly::ApplyCompaction(turns_, compaction_, plan, told, Policy({})));
  return {};
}

}  // namespace dossier::ask
