// Calendars and address cards: lines of `NAME;PARAMETER=VALUE:VALUE`, folded where they are long
// (RFC 5545, RFC 6350, vCard 2.1).

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/items.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::string_view kComponents[] = {"vevent", "vtodo", "vjournal"};

// The lower-case name behind `begin:` or `end:`; empty: the line is no such mark.
std::string MarkOf(std::string_view line, std::string_view mark) {
  if (line.size() < mark.size() || line.size() > 64) return {};
  if (ToLowerAscii(line.substr(0, mark.size())) != mark) return {};
  return ToLowerAscii(TrimSpace(line.substr(mark.size())));
}

bool IsComponent(const std::string& name) {
  return std::ranges::find(kComponents, name) != std::end(kComponents);
}

struct ContentLine {
  std::string name;        // upper case as written, without a group
  std::string parameters;  // lower case, with a ; in front of each
  std::string value;
  bool Has(std::string_view parameter) const {
    return parameters.find(parameter) != std::string::npos;
  }
};

// The colon that ends the parameters; those in quotes are none.
std::size_t ColonOf(std::string_view line) {
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') quoted = !quoted;
    if (line[at] == ':' && !quoted) return at;
  }
  return std::string_view::npos;
}

std::optional<ContentLine> ParseContentLine(std::string_view line) {
  const std::size_t colon = ColonOf(line);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view left = line.substr(0, colon);
  std::string_view name = left.substr(0, left.find(';'));
  ContentLine parsed{.name = {},
                     .parameters = ToLowerAscii(left.substr(name.size())),
                     .value = std::string(line.substr(colon + 1))};
  name.remove_prefix(name.find('.') == std::string_view::npos ? 0 : name.find('.') + 1);
  parsed.name = ToLowerAscii(name);
  if (parsed.Has("quoted-printable")) {
    parsed.value = ToUtf8(DecodeQuotedPrintable(parsed.value, Underscores::kKept));
  }
  return parsed;
}

// The lines of a record without folds, parsed; those of components inside of it are left out.
std::vector<ContentLine> LinesOfRecord(std::string_view record) {
  std::vector<ContentLine> lines;
  std::string line;
  int depth = 0;
  const auto take = [&] {
    const auto parsed = ParseContentLine(line);
    line.clear();
    if (!parsed) return;
    depth += parsed->name == "begin" ? 1 : 0;
    depth -= parsed->name == "end" ? 1 : 0;
    if (depth == 1 && parsed->name != "begin" && parsed->name != "end") lines.push_back(*parsed);
  };
  bool printable = false;  // the line is quoted-printable: = at its end is a fold
  for (std::size_t at = 0; at < record.size();) {
    const Line next = NextLine(record, at);
    at = next.next;
    if (printable && line.ends_with('=')) {
      line.pop_back();
      line += next.text;
    } else if (!next.text.empty() && IsBlank(next.text[0]) && !line.empty()) {
      line += next.text.substr(1);
    } else {
      take();
      line = next.text;
      printable =
          ToLowerAscii(next.text.substr(0, 200)).find("quoted-printable") != std::string::npos;
    }
  }
  take();
  return lines;
}

// Parts at `separator` where no backslash stands in front, with what backslashes mean put in.
std::vector<std::string> PartsOf(std::string_view value, char separator) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '\\' && at + 1 < value.size()) {
      const char c = value[++at];
      parts.back() += c == 'n' || c == 'N' ? '\n' : c;
    } else if (value[at] == separator && separator != '\0') {
      parts.emplace_back();
    } else {
      parts.back() += value[at];
    }
  }
  return parts;
}

std::string PlainText(std::string_view value) { return PartsOf(value, '\0')[0]; }

bool IsTimeName(std::string_view name) {
  constexpr std::string_view kTimes[] = {"dtstart", "dtend",     "due",           "dtstamp",
                                         "created", "completed", "last-modified", "recurrence-id"};
  return std::ranges::find(kTimes, name) != std::end(kTimes);
}

// Minutes since 1970 of a date of ISO 8601 with or without a time, wherever it is.
std::optional<std::int64_t> MinutesOf(std::string_view iso) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    if (at + digits <= iso.size()) {
      std::from_chars(iso.data() + at, iso.data() + at + digits, value);
    }
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (iso.size() < 10 || iso[4] != '-' || !day.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const bool timed = iso.size() >= 16 && iso[10] == 'T';
  return days * 1440 + (timed ? number(11, 2) * 60 + number(14, 2) : 0);
}

// Minutes of PT1H30M, P1D, P2W.
std::optional<std::int64_t> MinutesOfDuration(std::string_view text) {
  if (!text.starts_with('P')) return std::nullopt;
  std::int64_t minutes = 0, number = 0;
  for (const char c : text.substr(1)) {
    if (IsDigit(c)) {
      if (number > 1'000'000) return std::nullopt;
      number = number * 10 + (c - '0');
      continue;
    }
    minutes += number * (c == 'W' ? 10080 : c == 'D' ? 1440 : c == 'H' ? 60 : c == 'M' ? 1 : 0);
    number = 0;
  }
  return minutes;
}

// How long an event is.
void AddMinutes(TextRecord* record) {
  std::string_view start, end, duration;
  for (const auto& [name, value] : *record) {
    if (name == "dtstart") start = value;
    if (name == "dtend") end = value;
    if (name == "duration") duration = value;
  }
  std::optional<std::int64_t> minutes;
  const auto from = MinutesOf(start), to = MinutesOf(end);
  if (from && to && start.size() == end.size()) minutes = *to - *from;
  if (end.empty() && !duration.empty()) minutes = MinutesOfDuration(duration);
  if (minutes && *minutes >= 0) record->emplace_back("minutes", fmt::format("{}", *minutes));
}

// The kind of a telephone or mail address that columns are made for.
std::string_view KindOf(const ContentLine& line) {
  for (const std::string_view kind : {"cell", "work", "home", "fax"}) {
    if (line.Has(kind)) return kind;
  }
  return {};
}

void AddAddress(const ContentLine& line, TextRecord* record) {
  const std::vector<std::string> parts = PartsOf(line.value, ';');
  std::vector<std::string> filled;
  for (const std::string& part : parts) {
    if (!TrimSpace(part).empty()) filled.emplace_back(TrimSpace(part));
  }
  AddValue("address", Join(filled, ", "), record);
  constexpr std::string_view kNames[] = {"street", "city", "region", "postcode", "country"};
  for (std::size_t i = 0; i < std::size(kNames) && i + 2 < parts.size(); ++i) {
    AddValue(kNames[i], parts[i + 2], record);
  }
}

void AddCardLine(const ContentLine& line, TextRecord* record) {
  if (line.name == "version" || line.name == "prodid" || line.name.starts_with("x-ab")) return;
  if (line.Has("base64") || line.Has("encoding=b") || line.value.starts_with("data:")) return;
  if (line.name == "fn") {
    AddValue("name", PlainText(line.value), record);
  } else if (line.name == "n") {
    const std::vector<std::string> parts = PartsOf(line.value, ';');
    AddValue("family_name", parts[0], record);
    AddValue("given_name", parts.size() > 1 ? parts[1] : "", record);
  } else if (line.name == "adr") {
    AddAddress(line, record);
  } else if (line.name == "org") {
    AddValue("org", Join(PartsOf(line.value, ';'), ", "), record);
  } else if (line.name == "bday" || line.name == "anniversary" || line.name == "rev") {
    AddValue(line.name, IsoOfCompact(line.value), record);
  } else {
    const std::string value = PlainText(line.value);
    AddValue(line.name, value, record);
    const std::string_view kind = KindOf(line);
    if ((line.name == "tel" || line.name == "email") && !kind.empty()) {
      AddValue(fmt::format("{}_{}", line.name, kind), value, record);
    }
  }
}

}  // namespace

ItemLine JudgeCalendarLine(std::string_view line, ItemState*) {
  if (IsComponent(MarkOf(line, "begin:"))) return ItemLine::kBegin;
  const std::string end = MarkOf(line, "end:");
  if (end == "vcalendar") return ItemLine::kOutside;
  return IsComponent(end) ? ItemLine::kEnd : ItemLine::kInside;
}

TextRecord ReadCalendarItem(const Item& item) {
  TextRecord record;
  record.emplace_back("kind", MarkOf(NextLine(item.record(), 0).text, "begin:").substr(1));
  for (const ContentLine& line : LinesOfRecord(item.record())) {
    if (IsTimeName(line.name)) {
      AddValue(line.name, IsoOfCompact(line.value), &record);
    } else {
      const bool mail = ToLowerAscii(line.value.substr(0, 7)) == "mailto:";
      AddValue(line.name, PlainText(line.value).substr(mail ? 7 : 0), &record);
    }
  }
  AddMinutes(&record);
  return record;
}

ItemLine JudgeCardLine(std::string_view line, ItemState*) {
  if (MarkOf(line, "begin:") == "vcard") return ItemLine::kBegin;
  return MarkOf(line, "end:") == "vcard" ? ItemLine::kEnd : ItemLine::kInside;
}

TextRecord ReadCard(const Item& item) {
  TextRecord record;
  for (const ContentLine& line : LinesOfRecord(item.record())) AddCardLine(line, &record);
  return record;
}

}  // namespace dossier::inspect
