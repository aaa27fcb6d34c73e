// The operations open, describe, search and read, which are free and call no model.

#include <algorithm>
#include <set>

#include "ask/documents/document_words.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/hint.h"
#include "inspect/text/record_lines.h"
#include "server/contexts/place.h"
#include "server/operation_list.h"
#include "server/owners.h"
#include "server/workspace.h"

namespace dossier::server {
namespace {

using Origin = TextPart::Origin;

constexpr std::size_t kDocumentsShown = 100;
constexpr std::size_t kSnippetChars = 200;
constexpr std::size_t kPassagesRanked = 1000;  // above it the total is a lower bound

void Say(Output& output, std::string text) {
  output.parts.push_back({Origin::kOurs, std::move(text)});
}
void Show(Output& output, std::string text) {
  output.parts.push_back({Origin::kOthers, std::move(text)});
}

std::optional<std::string> TextOf(const JsonObject& arguments, std::string_view name) {
  const Json* value = Find(arguments, name);
  if (!value) return std::nullopt;
  return std::string(value->get_string());
}

std::uint64_t NumberOf(const JsonObject& arguments, std::string_view name) {
  const Json* value = Find(arguments, name);
  return value ? value->to_number<std::uint64_t>() : 0;
}

// Writes the hint, then the id, then notes on the choice of documents.
Output Described(const OpenContext& context) {
  Output output{.structured = context.summary};
  Show(output, context.hint);
  std::string text = fmt::format("\ncontext: {}", context.id);
  for (const std::string& note : context.notes) text += "\nnote: " + note;
  Say(output, std::move(text));
  return output;
}

// If there are several documents: the name of each as `read` takes it, and a description.
std::string DocumentTable(const OpenContext& context) {
  const auto& documents = context.documents->documents();
  if (documents.size() < 2) return "";
  std::string text;
  for (std::size_t i = 0; i < std::min(documents.size(), kDocumentsShown); ++i) {
    const inspect::Description& about = documents[i].description;
    text += fmt::format("\n{}  {} characters  {}", documents[i].name,
                        GroupDigits(about.counts.chars), inspect::FormatLabel(about));
  }
  if (documents.size() > kDocumentsShown) {
    text += fmt::format("\n… and {} more", GroupDigits(documents.size() - kDocumentsShown));
  }
  return text;
}

Output ContextList(Workspace& workspace, const ApiCaller& caller) {
  JsonArray list;
  std::string lines;
  for (const KnownContext& record : workspace.contexts().List()) {
    if (caller.owners && !caller.owners->Owns(caller.id, record.id)) continue;
    if (!workspace.MayRead(record)) continue;
    JsonObject one = record.summary;
    if (!record.name.empty()) one["name"] = record.name;
    const std::string shown =
        record.name.empty() && !record.paths.empty() ? record.paths[0] : record.name;
    lines += fmt::format("{}{}  {}  {} documents  {} characters  {}", lines.empty() ? "" : "\n",
                         record.id, shown, FindInt(one, "documents").value_or(0),
                         GroupCount(FindInt(one, "characters").value_or(0)), TextAt(one, "format"));
    list.push_back(std::move(one));
  }
  Output output;
  output.structured["contexts"] = list;
  if (list.empty()) {
    Say(output, "No context is open yet; open makes one.");
  } else {
    Show(output, std::move(lines));
  }
  return output;
}

struct HitPlace {
  std::size_t document = 0;
  std::uint64_t at = 0, length = 0;  // bytes
  double score = 0;
  std::string snippet;
};

// Replaces white space by single blanks; at most kSnippetChars.
std::string SnippetOf(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kSnippetChars * 8)) {
    const bool space = static_cast<unsigned char>(c) <= 0x20;
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  return std::string(TrimSpace(utf8::Prefix(out, kSnippetChars)));
}

// Returns the line of a passage that shares most words with the query.
std::string_view BestLine(std::string_view passage, const std::set<std::uint64_t>& wanted) {
  std::string_view best;
  std::size_t most = 0;
  for (std::size_t at = 0; at < passage.size();) {
    const auto line = inspect::NextLine(passage, at);
    const std::string_view text = passage.substr(at, line.next - at);
    std::set<std::uint64_t> found;
    ask::WordReader words(text);
    for (std::uint64_t word = 0; words.Next(&word);) {
      if (wanted.contains(word)) found.insert(word);
    }
    if (best.empty() || found.size() > most) {
      best = text;
      most = found.size();
    }
    at = line.next;
  }
  return best;
}

Result<std::vector<HitPlace>> RankedHits(const OpenContext& context, const std::string& query,
                                         std::size_t k, std::uint64_t* total,
                                         const CancelToken& cancel) {
  const auto& documents = context.documents->documents();
  DOSSIER_ASSIGN_OR_RETURN(const auto passages,
                           ask::SearchPassages(documents, query, kPassagesRanked, cancel));
  *total = passages.size();
  std::set<std::uint64_t> wanted;
  ask::WordReader words(query);
  for (std::uint64_t word = 0; words.Next(&word);) wanted.insert(word);
  std::vector<HitPlace> hits;
  for (std::size_t i = 0; i < std::min(k, passages.size()); ++i) {
    const ask::Passage& passage = passages[i];
    const std::string_view text = documents[passage.document].text;
    const std::string_view line = BestLine(text.substr(passage.at, passage.length), wanted);
    hits.push_back({.document = passage.document,
                    .at = static_cast<std::uint64_t>(line.data() - text.data()),
                    .length = line.size(),
                    .score = passage.score,
                    .snippet = SnippetOf(line)});
  }
  return hits;
}

Result<std::vector<HitPlace>> MatchHits(const OpenContext& context, const std::string& pattern,
                                        std::size_t k, std::uint64_t* total,
                                        const CancelToken& cancel) {
  const auto& documents = context.documents->documents();
  std::vector<HitPlace> hits;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string_view text = documents[i].text;
    DOSSIER_ASSIGN_OR_RETURN(
        const ask::GrepResult found,
        ask::Grep(text, pattern,
                  {.each = ask::GrepOptions::Each::kMatch, .max = k - std::min(k, hits.size())},
                  cancel));
    *total += found.total;
    for (const ask::GrepMatch& match : found.matches) {
      // The part of a long line begins shortly before its match.
      const std::uint64_t skipped = std::min<std::uint64_t>(match.at - match.line_at, 60);
      std::string_view shown =
          text.substr(match.at - skipped, match.line_length - (match.at - skipped - match.line_at));
      while (!shown.empty() && (static_cast<unsigned char>(shown[0]) & 0xC0) == 0x80) {
        shown.remove_prefix(1);
      }
      hits.push_back({i, match.at, match.length, 0, SnippetOf(shown)});
    }
  }
  return hits;
}

// The line and the characters of a hit.
Result<JsonObject> HitJson(const OpenContext& context, const HitPlace& hit,
                           const CancelToken& cancel) {
  std::string raw;
  DOSSIER_ASSIGN_OR_RETURN(
      const Json line,
      context.documents->Handle("locate", {{"ctx", hit.document}, {"byte", hit.at}}, &raw, cancel));
  DOSSIER_ASSIGN_OR_RETURN(
      const Json chars,
      context.documents->Handle(
          "byte_to_char",
          {{"ctx", hit.document}, {"bytes", JsonArray{hit.at, hit.at + hit.length}}}, &raw,
          cancel));
  const auto from = static_cast<std::uint64_t>(FindInt(line, "line").value_or(0));
  const DocumentPlace place{.document = hit.document, .from = from, .to = from + 1};
  const JsonArray& range = Find(chars, "chars")->get_array();
  JsonObject out{{"at", PlaceName(place, context.documents->documents())}};
  if (hit.score > 0) out["score"] = hit.score;
  out["start"] = range.at(0);
  out["end"] = range.at(1);
  return out;
}

// Writes lines as number, tab, text. Records and characters are shown unchanged.
std::string Numbered(const PlaceText& read, DocumentPlace::Unit unit) {
  if (unit != DocumentPlace::Unit::kLines) return std::string(read.bytes);
  std::string out;
  std::uint64_t number = read.first;
  for (std::size_t at = 0; at < read.bytes.size(); ++number) {
    const auto line = inspect::NextLine(read.bytes, at);
    out += fmt::format("{}\t{}", number, read.bytes.substr(at, line.next - at));
    at = line.next;
  }
  return out;
}

struct Shown {
  PlaceText read;
  std::string text;
  std::string cut;  // a note after it; "": nothing was cut
};

// Reads at most `most` characters and `limit` tokens (0: any). Cuts here, where the rest has a
// place name, because the caller's own limit would cut blindly.
Result<Shown> ShowPlace(const DocumentPlace& place, ask::DocumentService& service,
                        std::uint64_t most, std::int64_t limit, const tokens::Counter* counter,
                        const CancelToken& cancel) {
  Shown out;
  std::int64_t all = 0;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(out.read, ReadPlace(place, service, most, cancel));
    out.text = Numbered(out.read, place.unit);
    if (!counter || limit <= 0) return out;
    const std::int64_t now = counter->CountText(out.text).upper();
    if (all == 0) all = now;
    if (now <= limit || most <= 1) {
      if (now < all) {
        out.cut = fmt::format("\n[cut: {} of {} tokens; next: {}]", GroupCount(now),
                              GroupCount(all), out.read.next);
      }
      return out;
    }
    const double share = static_cast<double>(limit) / static_cast<double>(now) * 0.95;
    most = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(static_cast<double>(out.read.end - out.read.start) * share));
  }
}

}  // namespace

Result<Output> OpenContextOperation(Workspace& workspace, const JsonObject& arguments,
                                    const CallScope& scope) {
  const std::vector<std::string> paths = StringsOf(Find(arguments, "paths"));
  const auto text = TextOf(arguments, "text");
  const std::string name = TextOf(arguments, "name").value_or("");
  if (paths.empty() == !text) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "open: give either /paths, a list of files and folders, or /text");
  }
  std::vector<ask::ContextSource> sources;
  if (text) sources.push_back({.text = *text, .name = name});
  for (const std::string& path : paths) {
    DOSSIER_ASSIGN_OR_RETURN(std::string admitted, workspace.Admit(path));
    sources.push_back({.path = std::move(admitted)});
  }
  ask::ContextOptions how;
  how.open = [&](const std::string& path) { return workspace.OpenFile(path); };
  if (workspace.options().secrets == WorkspaceOptions::Secrets::kAllowed) {
    how.secrets = ask::ContextOptions::Secrets::kRead;
  }
  if (workspace.options().secrets == WorkspaceOptions::Secrets::kRedacted) {
    how.redact_unless = workspace.options().secrets_flag;
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           workspace.contexts().Add(sources, name, std::move(how), scope.cancel));
  if (scope.caller.owners) scope.caller.owners->Note(context->id, scope.caller.id);
  return Described(*context);
}

Result<Output> DescribeOperation(Workspace& workspace, const JsonObject& arguments,
                                 const CallScope& scope) {
  const auto id = TextOf(arguments, "context");
  if (!id) return ContextList(workspace, scope.caller);
  DOSSIER_ASSIGN_OR_RETURN(const auto context, workspace.Context(*id, scope.cancel));
  Output output = Described(*context);
  if (std::string table = DocumentTable(*context); !table.empty()) {
    output.parts[0].text += table;
  }
  return output;
}

Result<Output> SearchOperation(Workspace& workspace, const JsonObject& arguments,
                               const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           workspace.Context(*TextOf(arguments, "context"), scope.cancel));
  const std::string query = *TextOf(arguments, "query");
  const std::size_t k = NumberOf(arguments, "k");
  const Json* regex = Find(arguments, "regex");
  const bool matches = regex && regex->get_bool();
  std::uint64_t total = 0;
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<HitPlace> hits,
                           matches ? MatchHits(*context, query, k, &total, scope.cancel)
                                   : RankedHits(*context, query, k, &total, scope.cancel));
  Output output;
  JsonArray list;
  std::string lines;
  for (const HitPlace& hit : hits) {
    DOSSIER_ASSIGN_OR_RETURN(JsonObject one, HitJson(*context, hit, scope.cancel));
    lines += "\n" + TextAt(one, "at");
    lines += matches ? "  " : fmt::format("  {:.2f}  ", hit.score);
    lines += hit.snippet;
    list.push_back(std::move(one));
  }
  output.structured = {{"total", total}, {"hits", std::move(list)}};
  const bool more = !matches && total == kPassagesRanked;
  Say(output, fmt::format("{} of {}{} {}", hits.size(), more ? "at least " : "", GroupDigits(total),
                          matches || total != 1 ? "matches" : "match"));
  if (!hits.empty()) Show(output, std::move(lines));
  return output;
}

Result<Output> ReadOperation(Workspace& workspace, const JsonObject& arguments,
                             const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           workspace.Context(*TextOf(arguments, "context"), scope.cancel));
  const auto& documents = context->documents->documents();
  DOSSIER_ASSIGN_OR_RETURN(const DocumentPlace place,
                           ParsePlace(*TextOf(arguments, "at"), documents));
  const std::int64_t limit = workspace.options().result_tokens;
  DOSSIER_ASSIGN_OR_RETURN(
      Shown shown, ShowPlace(place, *context->documents, NumberOf(arguments, "max_chars"), limit,
                             limit > 0 ? &workspace.Counter() : nullptr, scope.cancel));
  const PlaceText& read = shown.read;
  Output output{
      .structured = {{"at", read.at}, {"start", read.start}, {"end", read.end}, {"cut", read.cut}}};
  const bool told = read.next.empty() || !shown.cut.empty();
  if (!read.next.empty()) output.structured["next"] = read.next;
  Say(output, fmt::format("{} of {}{}\n", read.at, read.of, told ? "" : "; next: " + read.next));
  Show(output, std::move(shown.text));
  if (!shown.cut.empty()) Say(output, std::move(shown.cut));
  return output;
}

}  // namespace dossier::server
