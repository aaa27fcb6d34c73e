#include "research/paper/literature.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/files/file.h"
#include "base/net/http_get.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/paper/latex.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxFile = 64ull << 20;  // bytes of a BibTeX file
constexpr std::size_t kMaxReply = 4u << 20;      // bytes of an answer
constexpr std::size_t kMaxAuthors = 30;
constexpr Millis kFetchDeadline{30'000};

std::set<std::string> WordsOf(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + " ") {
    const bool part = IsLower(c) || IsDigit(c) || (c & 0x80) != 0;
    if (part) {
      word += c;
    } else if (c != '{' && c != '}') {  // {B}races do not end words
      if (word.size() > 2) words.insert(word);
      word.clear();
    }
  }
  return words;
}

// Makes a key of the first author's last name, the year and a title word: "knuth1984art".
std::string MadeKey(std::string_view author, std::string_view year, std::string_view title) {
  const auto letters = [](std::string_view text) {
    std::string kept;
    for (const char c : ToLowerAscii(text)) {
      if (IsLower(c) || IsDigit(c)) kept += c;
    }
    return kept;
  };
  std::string word;
  for (const std::string_view piece : Split(title, ' ')) {
    word = letters(piece);
    if (word.size() > 3) break;
  }
  const std::size_t blank = author.rfind(' ');
  const std::string_view last = blank == std::string_view::npos ? author : author.substr(blank + 1);
  return letters(last) + letters(year) + word;
}

BibEntry EntryOfPaper(const Json& paper) {
  BibEntry entry{.type = "article"};
  const auto add = [&](std::string_view name, std::string_view value) {
    // Plain text is escaped for LaTeX: `C# & co.` would break the paper's build.
    if (!value.empty()) entry.fields.emplace_back(name, EscapeLatex(value));
  };
  const std::string title = TextAt(paper, "title");
  const auto year = FindInt(paper, "year");
  std::string authors;
  std::string first;
  const Json* list = Find(paper, "authors");
  if (list != nullptr && list->is_array()) {
    std::size_t count = 0;
    for (const Json& author : list->as_array()) {
      const auto name = FindString(author, "name");
      if (!name || count++ == kMaxAuthors) continue;
      if (authors.empty()) first = *name;
      authors += (authors.empty() ? "" : " and ") + std::string(*name);
    }
  }
  add("title", title);
  add("author", authors);
  add("year", year ? std::to_string(*year) : "");
  add("journal", FindString(paper, "venue").value_or(""));
  add("abstract", FindString(paper, "abstract").value_or(""));
  entry.key = MadeKey(first, entry.Field("year"), title);
  return entry;
}

// Uses the service's own BibTeX if there is one.
BibEntry EntryOf(const Json& paper) {
  const Json* styles = Find(paper, "citationStyles");
  const auto bibtex = styles ? FindString(*styles, "bibtex") : std::nullopt;
  if (bibtex) {
    std::vector<BibEntry> entries = ParseBibtex(*bibtex);
    if (entries.size() == 1 && IsCitable(entries[0])) {
      const auto abstract = FindString(paper, "abstract");
      if (abstract && entries[0].Field("abstract").empty()) {
        entries[0].fields.emplace_back("abstract", EscapeLatex(*abstract));
      }
      return std::move(entries[0]);
    }
  }
  return EntryOfPaper(paper);
}

std::string FileOf(int round) {
  return fmt::format("{}/citations/search_{:02}.bib", run_files::kLogs, round);
}

}  // namespace

bool Literature::HasSource() const {
  const RunConfig& config = *services_.config;
  return !config.citation_bibtex.empty() || !config.citation_search_url.empty();
}

Result<std::vector<BibEntry>> Literature::Search(std::string_view query, int round,
                                                 const CancelToken& cancel) const {
  const std::string kept = FileOf(round);
  const std::string path = services_.run_folder + "/" + kept;
  if (Exists(path)) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFile));
    if (IsArtefact(services_, kept, text)) return ParseBibtex(text);
  }
  std::vector<BibEntry> entries;
  if (!services_.config->citation_bibtex.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(entries, FromFile(query));
  }
  if (entries.size() < kMaxSearchResults && !services_.config->citation_search_url.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(std::vector<BibEntry> more, FromService(query, cancel));
    std::ranges::move(more, std::back_inserter(entries));
  }
  std::erase_if(entries, [](const BibEntry& entry) { return !IsCitable(entry); });
  if (entries.size() > kMaxSearchResults) entries.resize(kMaxSearchResults);
  // Uses the form that a resumed run will read, so that it asks the same.
  const std::string text = BibtexText(entries);
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(services_, kept, text));
  return ParseBibtex(text);
}

Result<std::vector<BibEntry>> Literature::FromFile(std::string_view query) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(services_.config->citation_bibtex, kMaxFile));
  return BestMatches(ParseBibtex(text), query);
}

Result<std::vector<BibEntry>> Literature::FromService(std::string_view query,
                                                      const CancelToken& cancel) const {
  if (!services_.fetch) {
    return MakeError(ErrorCode::kNetwork, "there is no network for a search of literature");
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string reply,
      services_.fetch(SearchUrl(services_.config->citation_search_url, query), cancel));
  const Result<Json> json = ParseJson(reply);
  const std::string_view text = TrimSpace(reply);
  const bool bibtex = text.empty() || text.starts_with('@') || text.find("\n@") != text.npos;
  if (json ? Find(*json, "data") != nullptr : bibtex) return ReadSearchReply(reply);
  return MakeError(ErrorCode::kNetwork,
                   "the search of literature answered neither BibTeX nor JSON with `data`");
}

std::vector<BibEntry> BestMatches(std::vector<BibEntry> entries, std::string_view query) {
  const std::set<std::string> wanted = WordsOf(query);
  std::vector<std::pair<std::size_t, BibEntry>> scored;
  for (BibEntry& entry : entries) {
    std::string text;
    for (const std::string_view field : {"title", "title", "keywords", "author", "abstract"}) {
      text += fmt::format("{} ", entry.Field(field));
    }
    std::size_t shared = 0;
    for (const std::string& word : WordsOf(text)) shared += wanted.count(word);
    if (shared > 0) scored.emplace_back(shared, std::move(entry));
  }
  std::ranges::stable_sort(scored, std::ranges::greater(),
                           &std::pair<std::size_t, BibEntry>::first);
  std::vector<BibEntry> best;
  for (auto& [score, entry] : scored) {
    if (best.size() < kMaxSearchResults) best.push_back(std::move(entry));
  }
  return best;
}

std::vector<BibEntry> ReadSearchReply(std::string_view text) {
  const Result<Json> json = ParseJson(text);
  if (!json) return ParseBibtex(text);
  const Json* papers = Find(*json, "data");
  std::vector<BibEntry> entries;
  if (papers == nullptr || !papers->is_array()) return entries;
  for (const Json& paper : papers->as_array()) entries.push_back(EntryOf(paper));
  return entries;
}

std::string SearchUrl(std::string_view url, std::string_view query) {
  std::string encoded;
  for (const char c : query) {
    const bool plain = IsAlnum(c) || c == '-' || c == '_' || c == '.' || c == '~';
    encoded += plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  constexpr std::string_view kPlace = "{query}";
  if (url.find(kPlace) == std::string_view::npos) return std::string(url) + encoded;
  return ReplaceAll(url, kPlace, encoded);
}

std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> HttpFetch() {
  return [](const std::string& url, const CancelToken& cancel) -> Result<std::string> {
    DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
    DOSSIER_ASSIGN_OR_RETURN(
        HttpAnswer answer,
        AskHttp(*loop, {.method = HttpCall::Method::kGet, .url = url, .deadline = kFetchDeadline},
                kMaxReply, cancel));
    if (answer.status == 200) return std::move(answer.body);
    return MakeError(ErrorCode::kNetwork, "the search of literature answered {}", answer.status);
  };
}

}  // namespace dossier::research
