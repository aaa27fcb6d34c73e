#include "cli/memory/memory_view.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

using memory::Branch;
using memory::Hit;
using memory::ListPlace;
using memory::LoggedWrite;

// Replaces newlines and tabs by blanks and makes the rest safe for a terminal.
std::string OneLine(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return utf8::CleanForTerminal(line);
}

std::string Short(std::string_view text, std::uint64_t code_points) {
  const std::string_view kept = utf8::Prefix(text, code_points);
  return OneLine(kept) + (kept.size() < text.size() ? "…" : "");
}

std::string OrDash(std::string_view text) { return text.empty() ? "-" : OneLine(text); }

std::string HitLine(const Hit& hit) {
  const bool core = hit.tier == memory::SearchTier::kCore;
  return fmt::format("{}  {:.9f}  {}  {}  {}", core ? "-" : std::to_string(hit.record.id),
                     hit.score, memory::FormatMicrosTime(hit.record.at), OrDash(hit.record.ref),
                     OneLine(hit.record.text));
}

void PrintPlace(const ListPlace& place, std::ostream& out) {
  out << fmt::format(
      "    {}: rank {}, score {:.6f}, part {:.9f}; {} terms, {:.2f} on average, {} "
      "texts\n",
      place.list, place.rank, place.score, place.part, place.length, place.average_length,
      place.texts);
  for (const memory::TermPart& term : place.terms) {
    out << fmt::format("      {}: {} here, in {} texts, idf {:.6f}, part {:.6f}\n",
                       OneLine(term.term), term.f, term.n, term.idf, term.part);
  }
}

Json PlaceJson(const ListPlace& place) {
  JsonArray terms;
  for (const memory::TermPart& term : place.terms) {
    terms.push_back(JsonObject{
        {"term", term.term}, {"f", term.f}, {"n", term.n}, {"idf", term.idf}, {"part", term.part}});
  }
  return JsonObject{{"list", place.list},   {"rank", place.rank},
                    {"score", place.score}, {"part", place.part},
                    {"len", place.length},  {"avglen", place.average_length},
                    {"texts", place.texts}, {"terms", std::move(terms)}};
}

std::string_view TierWord(memory::SearchTier tier) {
  switch (tier) {
    case memory::SearchTier::kRecall:
      return "recall";
    case memory::SearchTier::kArchival:
      return "archival";
    case memory::SearchTier::kCore:
      return "core";
  }
  return "";
}

JsonObject ShortHitJson(const Hit& hit) {
  return {{"id", hit.record.id},
          {"ref", hit.record.ref},
          {"score", hit.score},
          {"text", hit.record.text}};
}

void AddPlaces(const Hit& hit, Explain explain, JsonObject* out) {
  if (explain == Explain::kNo) return;
  JsonArray lists;
  for (const ListPlace& place : hit.places) lists.push_back(PlaceJson(place));
  (*out)["lists"] = std::move(lists);
}

void PrintBranch(const Branch& branch, std::size_t depth, std::ostream& out) {
  out << std::string(2 * depth, ' ') << OneLine(branch.name);
  if (depth > 0) out << "  from write " << branch.fork_seq;
  if (!branch.node.empty()) out << "  node " << OneLine(branch.node);
  out << "\n";
}

std::string What(const LoggedWrite& change) {
  if (!change.key.empty()) return OneLine(change.key);
  return change.record ? fmt::format("#{}", *change.record) : "-";
}

std::string Effect(const LoggedWrite& change) {
  constexpr std::uint64_t kShown = 60;  // code points
  if (!change.before && !change.after) return "";
  const auto text = [](const std::optional<std::string>& value) {
    return value ? Short(*value, kShown) : std::string("(nothing)");
  };
  if (!change.before) return text(change.after);
  return fmt::format("{} -> {}", text(change.before), text(change.after));
}

Json OrNull(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

}  // namespace

void PrintHits(std::span<const Hit> hits, Explain explain, const Terminal& terminal,
               std::ostream& out) {
  for (const Hit& hit : hits) {
    const std::string line = HitLine(hit);
    const bool cut = terminal.out == Terminal::Kind::kTerminal && explain == Explain::kNo &&
                     DisplayWidth(line) > terminal.columns;
    out << (cut ? DisplayPrefix(line, terminal.columns - 1) : line) << (cut ? "…" : "") << "\n";
    if (explain == Explain::kNo) continue;
    for (const ListPlace& place : hit.places) PrintPlace(place, out);
  }
}

JsonArray HitsJson(std::span<const Hit> hits, Explain explain) {
  JsonArray list;
  for (const Hit& hit : hits) {
    const memory::Record& record = hit.record;
    JsonObject one = ShortHitJson(hit);
    one["time"] = memory::FormatMicrosTime(record.at);
    one["tier"] = TierWord(hit.tier);
    one["kind"] = record.kind;
    one["thread"] = record.thread;
    one["tags"] = TextArray(record.tags);
    one["branch"] = record.branch;
    AddPlaces(hit, explain, &one);
    list.push_back(std::move(one));
  }
  return list;
}

JsonObject AnswerJson(const Json& id, std::span<const Hit> hits, Explain explain) {
  JsonArray list;
  for (const Hit& hit : hits) {
    JsonObject one = ShortHitJson(hit);
    AddPlaces(hit, explain, &one);
    list.push_back(std::move(one));
  }
  return {{"id", id}, {"hits", std::move(list)}};
}

void PrintBranches(const std::vector<Branch>& branches, std::ostream& out) {
  std::unordered_map<std::string_view, std::vector<const Branch*>> children;
  for (const Branch& branch : std::views::reverse(branches)) {
    children[branch.parent].push_back(&branch);
  }
  // Uses an explicit stack, because forks may be nested without limit.
  std::vector<std::pair<const Branch*, std::size_t>> open;  // and its depth; the next one last
  const auto add = [&](std::string_view parent, std::size_t depth) {
    for (const Branch* branch : children[parent]) open.emplace_back(branch, depth);
  };
  for (add("", 0); !open.empty();) {
    const auto [branch, depth] = open.back();
    open.pop_back();
    PrintBranch(*branch, depth, out);
    add(branch->name, depth + 1);
  }
}

JsonArray BranchesJson(const std::vector<Branch>& branches) {
  JsonArray list;
  for (const Branch& branch : branches) {
    list.push_back(JsonObject{{"id", branch.id},
                              {"name", branch.name},
                              {"parent", branch.parent.empty() ? Json() : Json(branch.parent)},
                              {"fork_seq", branch.fork_seq},
                              {"node_uid", branch.node},
                              {"created_at", memory::FormatMicrosTime(branch.created_at)},
                              {"seq", branch.seq}});
  }
  return list;
}

void PrintHistory(const std::vector<LoggedWrite>& changes, std::ostream& out) {
  for (const LoggedWrite& change : changes) {
    const std::string effect = Effect(change);
    out << fmt::format("{}  {}  {}  {}  {}  {}{}{}\n", change.seq,
                       memory::FormatMicrosTime(change.at), change.branch, change.actor, change.op,
                       What(change), effect.empty() ? "" : "  ", effect);
  }
}

JsonArray HistoryJson(const std::vector<LoggedWrite>& changes) {
  JsonArray list;
  for (const LoggedWrite& change : changes) {
    list.push_back(JsonObject{{"seq", change.seq},
                              {"time", memory::FormatMicrosTime(change.at)},
                              {"branch", change.branch},
                              {"actor", change.actor},
                              {"op", change.op},
                              {"key", change.key.empty() ? Json() : Json(change.key)},
                              {"id", change.record ? Json(*change.record) : Json()},
                              {"before", OrNull(change.before)},
                              {"after", OrNull(change.after)},
                              {"block_id", change.block_id},
                              {"node_id", change.node_id},
                              {"phase", change.phase},
                              {"details", change.details}});
  }
  return list;
}

JsonObject EntryJson(const memory::CoreEntry& entry) {
  return {
      {"key", entry.key},
      {"value", entry.value},
      {"importance", entry.importance},
      {"expires_at", entry.expires_at ? Json(memory::FormatMicrosTime(*entry.expires_at)) : Json()},
      {"pinned", entry.pinned},
      {"updated_at", memory::FormatMicrosTime(entry.updated_at)},
      {"seq", entry.seq},
      {"branch", entry.branch}};
}

}  // namespace dossier::cli
