#include "server/contexts/place.h"

#include <algorithm>
#include <vector>

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::server {
namespace {

using Unit = DocumentPlace::Unit;

constexpr std::string_view kForms =
    "a place is NAME:12-30 (lines), NAME#record=17-20, NAME@0-5000 (characters), or NAME";
constexpr std::string_view kRecordMark = "#record=";

struct Bytes {
  std::uint64_t begin = 0, end = 0;
};

// The document with the longest name that a place begins with, and the rest of the place.
struct Named {
  std::size_t document = 0;
  std::string_view rest;
};

bool EndsName(std::string_view rest) {
  return rest.empty() || rest[0] == ':' || rest[0] == '#' || rest[0] == '@';
}

Result<Named> FindName(std::string_view at, std::span<const ask::TextDocument> documents) {
  std::optional<Named> found;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string& name = documents[i].name;
    if (name.empty() || !at.starts_with(name) || !EndsName(at.substr(name.size()))) continue;
    if (!found || name.size() > documents[found->document].name.size()) {
      found = Named{.document = i, .rest = at.substr(name.size())};
    }
  }
  if (found) return *found;
  const bool bare = !at.empty() && (EndsName(at) || at.find_first_not_of("0123456789-") == at.npos);
  if (documents.size() == 1 && (bare || at.empty())) return Named{.rest = at};
  std::vector<std::string> names;
  for (const ask::TextDocument& document : documents) names.push_back(document.name);
  const std::string_view name = at.substr(0, at.find_first_of(":#@"));
  return MakeError(ErrorCode::kNotFound, "at \"{}\": no document is named so{}; {}", at,
                   DidYouMean(name, names), kForms);
}

// Parses "12-30", "12-", "12"; `from` is at least `least`.
Result<std::pair<std::uint64_t, std::optional<std::uint64_t>>> ParseRange(std::string_view at,
                                                                          std::string_view text,
                                                                          std::uint64_t least) {
  const std::size_t dash = text.find('-');
  const auto from = ParseWhole(text.substr(0, dash));
  const std::string_view behind = dash == text.npos ? text : text.substr(dash + 1);
  const auto to = ParseWhole(behind);
  const bool open = behind.empty();
  if (!from || *from < static_cast<std::int64_t>(least) || (!open && (!to || *to < *from))) {
    return MakeError(ErrorCode::kInvalidArgument, "at \"{}\": \"{}\" is no range; {}", at, text,
                     kForms);
  }
  std::pair<std::uint64_t, std::optional<std::uint64_t>> range{*from, std::nullopt};
  if (!open) range.second = static_cast<std::uint64_t>(*to);
  return range;
}

// Asks the service for one number, or for a range.
class Asker {
 public:
  Asker(ask::DocumentService& service, std::size_t document, const CancelToken& cancel)
      : service_(service), document_(document), cancel_(cancel) {}

  Result<Json> Ask(std::string_view method, JsonObject args) const {
    args["ctx"] = document_;
    std::string raw;
    return service_.Handle(method, args, &raw, cancel_);
  }
  Result<std::uint64_t> Count(Unit unit) const {
    if (unit == Unit::kCharacters) return Number("info", {}, "chars");
    if (unit == Unit::kLines) return Number("line_count", {}, "count");
    DOSSIER_ASSIGN_OR_RETURN(const Json info, Ask("records_info", {}));
    if (const auto count = FindInt(info, "count")) return static_cast<std::uint64_t>(*count);
    return MakeError(ErrorCode::kInvalidArgument, "{} has no records ({}); read lines of it",
                     service_.documents()[document_].name, TextAt(info, "label"));
  }
  Result<Bytes> Range(Unit unit, std::uint64_t from, std::uint64_t to) const {
    if (unit == Unit::kCharacters) {
      DOSSIER_ASSIGN_OR_RETURN(const Json found,
                               Ask("char_to_byte", {{"chars", JsonArray{from, to}}}));
      const JsonArray& bytes = Find(found, "bytes")->get_array();
      return Bytes{bytes.at(0).to_number<std::uint64_t>(), bytes.at(1).to_number<std::uint64_t>()};
    }
    DOSSIER_ASSIGN_OR_RETURN(const Json found, Ask(unit == Unit::kLines ? "lines" : "record_span",
                                                   {{"from", from}, {"to", to}}));
    const auto at = static_cast<std::uint64_t>(FindInt(found, "at").value_or(0));
    return Bytes{at, at + static_cast<std::uint64_t>(FindInt(found, "len").value_or(0))};
  }
  Result<std::pair<std::uint64_t, std::uint64_t>> Characters(const Bytes& bytes) const {
    DOSSIER_ASSIGN_OR_RETURN(const Json found,
                             Ask("byte_to_char", {{"bytes", JsonArray{bytes.begin, bytes.end}}}));
    const JsonArray& chars = Find(found, "chars")->get_array();
    return std::pair{chars.at(0).to_number<std::uint64_t>(),
                     chars.at(1).to_number<std::uint64_t>()};
  }

 private:
  Result<std::uint64_t> Number(std::string_view method, JsonObject args,
                               std::string_view key) const {
    DOSSIER_ASSIGN_OR_RETURN(const Json found, Ask(method, std::move(args)));
    return static_cast<std::uint64_t>(FindInt(found, key).value_or(0));
  }

  ask::DocumentService& service_;
  const std::size_t document_;
  const CancelToken& cancel_;
};

// Returns the bytes of the first `chars` characters.
std::size_t PrefixBytes(std::string_view text, std::uint64_t chars) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && chars-- == 0) break;
  }
  return at;
}

std::string_view UnitWord(Unit unit) {
  constexpr std::string_view kWords[] = {"lines", "records", "characters"};
  return kWords[static_cast<std::size_t>(unit)];
}

// Returns how many whole units from `from` end at or before byte `limit`, from none to all.
Result<std::uint64_t> WholeUnits(const Asker& asker, const DocumentPlace& place, std::uint64_t to,
                                 std::uint64_t limit) {
  std::uint64_t low = place.from, high = to;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    DOSSIER_ASSIGN_OR_RETURN(const Bytes bytes, asker.Range(place.unit, place.from, middle));
    if (bytes.end <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low - place.from;
}

}  // namespace

Result<DocumentPlace> ParsePlace(std::string_view at,
                                 std::span<const ask::TextDocument> documents) {
  DOSSIER_ASSIGN_OR_RETURN(const Named named, FindName(at, documents));
  DocumentPlace place{.document = named.document, .to = {}};
  std::string_view rest = named.rest;
  if (rest.empty()) return place;
  if (rest[0] == '#') {
    if (!rest.starts_with(kRecordMark)) {
      return MakeError(ErrorCode::kInvalidArgument, "at \"{}\": {} has no pages or sheets; {}", at,
                       documents[named.document].name, kForms);
    }
    place.unit = Unit::kRecords;
    rest.remove_prefix(kRecordMark.size());
  } else if (rest[0] == '@') {
    place.unit = Unit::kCharacters;
    rest.remove_prefix(1);
  } else if (rest[0] == ':') {
    rest.remove_prefix(1);
  }
  const bool characters = place.unit == Unit::kCharacters;
  DOSSIER_ASSIGN_OR_RETURN(const auto range, ParseRange(at, rest, characters ? 0 : 1));
  place.from = characters ? range.first : range.first - 1;
  place.to = range.second;
  return place;
}

std::string PlaceName(const DocumentPlace& place, std::span<const ask::TextDocument> documents) {
  std::string name = documents[place.document].name;
  constexpr std::string_view kMarks[] = {":", kRecordMark, "@"};
  const std::string_view mark = kMarks[static_cast<std::size_t>(place.unit)];
  if (place.unit == Unit::kCharacters) {
    return fmt::format("{}{}{}-{}", name, mark, place.from,
                       place.to ? std::to_string(*place.to) : "");
  }
  if (place.to && *place.to == place.from + 1) {
    return fmt::format("{}{}{}", name, mark, place.from + 1);
  }
  return fmt::format("{}{}{}-{}", name, mark, place.from + 1,
                     place.to ? std::to_string(*place.to) : "");
}

Result<PlaceText> ReadPlace(const DocumentPlace& place, ask::DocumentService& service,
                            std::uint64_t max_chars, const CancelToken& cancel) {
  const auto& documents = service.documents();
  const std::string_view text = documents[place.document].text;
  const Asker asker(service, place.document, cancel);
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t count, asker.Count(place.unit));
  PlaceText out{.of = fmt::format("{} {}", GroupDigits(count), UnitWord(place.unit))};
  if (place.from > count || (place.from == count && count > 0)) {
    return MakeError(ErrorCode::kInvalidArgument, "at \"{}\": there are only {}",
                     PlaceName(place, documents), out.of);
  }
  DocumentPlace read = place;
  read.to = std::min(place.to.value_or(count), count);
  const std::uint64_t wanted = *read.to;
  DOSSIER_ASSIGN_OR_RETURN(Bytes bytes, asker.Range(place.unit, place.from, wanted));
  const std::uint64_t limit =
      bytes.begin + PrefixBytes(text.substr(bytes.begin, bytes.end - bytes.begin), max_chars);
  if (limit < bytes.end) {
    out.cut = true;
    DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t whole, WholeUnits(asker, place, wanted, limit));
    DocumentPlace next = place;
    if (whole > 0) {
      read.to = next.from = place.from + whole;
      if (next.to) next.to = wanted;
      DOSSIER_ASSIGN_OR_RETURN(bytes, asker.Range(place.unit, place.from, *read.to));
    } else {
      // Cut within one line or record: the rest is named by its characters.
      DOSSIER_ASSIGN_OR_RETURN(const auto rest, asker.Characters({limit, bytes.end}));
      next = {.document = place.document, .unit = Unit::kCharacters, .from = rest.first};
      next.to = rest.second;
      read.to = place.from + 1;
      bytes.end = limit;
    }
    out.next = PlaceName(next, documents);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto chars, asker.Characters(bytes));
  out.start = chars.first;
  out.end = chars.second;
  out.bytes = text.substr(bytes.begin, bytes.end - bytes.begin);
  out.at = PlaceName(read, documents);
  if (place.unit != Unit::kCharacters) out.first = place.from + 1;
  return out;
}

}  // namespace dossier::server
