// Journals of ledger, hledger and beancount (a record is a posting), and what git log prints.

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/items.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostPostings = 64;  // of a booking, around one whose amount is not written

// Bytes of 2024-01-31, 2024/1/31 or 2024.01.31 at the start; 0: there is no date.
std::size_t DateLength(std::string_view line) {
  const auto digits = [&](std::size_t at, std::size_t most) {
    std::size_t count = 0;
    while (count < most && at + count < line.size() && IsDigit(line[at + count])) ++count;
    return count;
  };
  if (digits(0, 5) != 4 || line.size() < 8) return 0;
  const char mark = line[4];
  if (mark != '-' && mark != '/' && mark != '.') return 0;
  const std::size_t month = digits(5, 2);
  if (month == 0 || line.substr(5 + month, 1) != std::string_view(&mark, 1)) return 0;
  const std::size_t day = digits(6 + month, 2);
  return day == 0 ? 0 : 6 + month + day;
}

std::string IsoDate(std::string_view date) {
  const std::size_t month = date.find(date[4], 5);
  return fmt::format("{}-{:0>2}-{:0>2}", date.substr(0, 4), date.substr(5, month - 5),
                     date.substr(month + 1));
}

struct Posting {
  std::string_view account;
  std::string amount, commodity, comment;
};

// Behind an account stand two spaces or a tab.
Posting ParsePosting(std::string_view line) {
  Posting posting;
  std::string_view text = TrimSpace(line);
  if (const std::size_t at = text.find(';'); at != std::string_view::npos) {
    posting.comment = TrimSpace(text.substr(at + 1));
    text = TrimSpace(text.substr(0, at));
  }
  if (text.size() > 1 && (text[0] == '*' || text[0] == '!') && IsBlank(text[1])) {
    text = TrimSpace(text.substr(1));
  }
  std::size_t end = std::min(text.find("  "), text.find('\t'));
  if (const std::size_t space = text.find(' '); end == text.npos && space != text.npos) {
    // Accounts of beancount hold no spaces.
    const bool amount = text.substr(space + 1).find_first_of("0123456789") <= 1;
    if (amount && text.find(':') < space) end = space;
  }
  posting.account = TrimSpace(text.substr(0, end));
  if (end == std::string_view::npos) return posting;
  std::string_view amount = TrimSpace(text.substr(end));
  amount = TrimSpace(amount.substr(0, amount.find_first_of("=@{")));
  posting.amount = TakeAmount(amount, &posting.commodity);
  std::erase(posting.commodity, '"');
  return posting;
}

bool IsPostingLine(std::string_view line) {
  if (line.empty() || !IsBlank(line[0])) return false;
  const std::string_view text = TrimSpace(line);
  return !text.empty() && std::string_view(";#%|*").find(text[0]) == std::string_view::npos;
}

// Adds hundred-millionths, so that sums are exact. Returns false if the amount has more places, or
// is larger than any sum of money.
bool AddAmount(const std::string& amount, __int128* sum) {
  constexpr int kPlaces = 8;
  __int128 value = 0;
  int places = -1;
  for (const char c : amount) {
    if (c == '.') places = 0;
    if (!IsDigit(c)) continue;
    if (places == kPlaces) {
      if (c != '0') return false;
      continue;
    }
    if (value > static_cast<__int128>(1) << 90) return false;
    value = value * 10 + (c - '0');
    places += places >= 0 ? 1 : 0;
  }
  for (int i = std::max(places, 0); i < kPlaces; ++i) value *= 10;
  *sum += amount.starts_with('-') ? -value : value;
  return true;
}

std::string AmountText(__int128 sum) {
  constexpr __int128 kUnit = 100'000'000;
  const bool negative = sum < 0;
  if (negative) sum = -sum;
  std::string places = fmt::format("{:08}", static_cast<std::int64_t>(sum % kUnit));
  places.resize(places.find_last_not_of('0') + 1);
  return fmt::format("{}{}{}{}", negative ? "-" : "", sum / kUnit, places.empty() ? "" : ".",
                     places);
}

// The start of the line in front of the one at `at`; npos: there is none.
std::size_t LineInFront(std::string_view text, std::uint64_t at) {
  if (at == 0) return std::string_view::npos;
  const std::string_view before = text.substr(0, at - 1);
  const std::size_t end = before.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

// The amount that makes the booking even, if it is of one commodity and all others are written.
void Balance(const Item& item, Posting* posting) {
  std::size_t at = item.range.begin;
  for (std::size_t i = 0; i < kMostPostings; ++i) {
    const std::size_t before = LineInFront(item.text, at);
    if (before == std::string_view::npos || !IsBlank(item.text[before])) break;
    at = before;
  }
  __int128 sum = 0;
  std::string commodity;
  std::size_t known = 0;
  for (std::size_t lines = 0; at < item.text.size(); ++lines) {
    if (lines > 2 * kMostPostings) return;
    const Line line = NextLine(item.text, at);
    const bool own = at == item.range.begin;
    at = line.next;
    if (line.text.empty() || !IsBlank(line.text[0])) break;
    if (own || !IsPostingLine(line.text)) continue;
    const Posting other = ParsePosting(line.text);
    const bool priced = line.text.find_first_of("@{(") != std::string_view::npos;
    if (other.amount.empty() || priced) return;
    if (known++ > 0 && other.commodity != commodity) return;
    commodity = other.commodity;
    if (!AddAmount(other.amount, &sum)) return;
  }
  if (known == 0) return;
  posting->amount = AmountText(-sum);
  posting->commodity = commodity;
}

std::string_view TakeWord(std::string_view* rest) {
  const std::string_view word = rest->substr(0, rest->find_first_of(" \t"));
  *rest = TrimSpace(rest->substr(word.size()));
  return word;
}

bool IsCommit(std::string_view line) {
  if (!line.starts_with("commit ")) return false;
  const std::string_view hash = line.substr(7, line.substr(7).find(' '));
  return hash.size() >= 7 && hash.size() <= 64 && std::ranges::all_of(hash, IsHexDigit);
}

// ` 2 files changed, 5 insertions(+), 1 deletion(-)`
void AddChanges(std::string_view line, TextRecord* record) {
  for (std::string_view part : Split(line, ',')) {
    part = TrimSpace(part);
    const std::string_view count = TakeWord(&part);
    AddValue(part.starts_with("file")     ? "files_changed"
             : part.starts_with("insert") ? "insertions"
                                          : "deletions",
             count, record);
  }
}

}  // namespace

bool BeginsLedger(std::string_view head) {
  std::size_t indented = 0, amounts = 0, lines = 0;
  ItemState state;
  for (std::size_t at = 0; at < head.size() && lines < 200; ++lines) {
    const Line line = NextLine(head, at);
    at = line.next;
    if (JudgeLedgerLine(line.text.substr(0, kMaxJudgedLine), &state) != ItemLine::kWhole) continue;
    const Posting posting = ParsePosting(line.text);
    ++indented;
    amounts += !posting.amount.empty() && posting.commodity.size() <= 12 ? 1 : 0;
  }
  return amounts > 0 && amounts * 3 >= indented;
}

ItemLine JudgeLedgerLine(std::string_view line, ItemState* state) {
  if (IsBlankLine(line)) {
    state->depth = 0;
    return ItemLine::kOutside;
  }
  if (!IsBlank(line[0])) {
    const std::size_t date = DateLength(line);
    const std::string_view behind = line.substr(date, 1);
    const bool timed = line.substr(std::min(date + 3, line.size()), 1) == ":";  // a log
    const bool booking = date > 0 && !timed && (behind.empty() || behind == " " || behind == "=");
    state->depth = booking ? 1 : 0;
    return booking ? ItemLine::kHead : ItemLine::kOutside;
  }
  if (state->depth == 0 || !IsPostingLine(line)) return ItemLine::kOutside;
  return ItemLine::kWhole;
}

TextRecord ReadBookingHead(std::string_view text, std::uint64_t at) {
  std::string_view line = NextLine(text, at).text.substr(0, kMaxJudgedLine);
  const std::size_t date = DateLength(line);
  TextRecord head{{"date", date == 0 ? std::string() : IsoDate(line.substr(0, date))}};
  std::string_view rest = line.substr(date);
  if (rest.starts_with('=')) TakeWord(&rest);
  rest = TrimSpace(rest.substr(0, rest.find(';')));
  if (rest.starts_with("* ") || rest.starts_with("! ") || rest.starts_with("txn ")) {
    head.emplace_back("status", TakeWord(&rest));
  }
  if (const std::size_t end = rest.find(')'); rest.starts_with('(') && end != rest.npos) {
    head.emplace_back("code", rest.substr(1, end - 1));
    rest = TrimSpace(rest.substr(end + 1));
  }
  std::string payee(rest);
  std::erase(payee, '"');
  head.emplace_back("payee", payee);
  return head;
}

TextRecord ReadPosting(const Item& item) {
  Posting posting = ParsePosting(item.record());
  if (posting.amount.empty()) Balance(item, &posting);
  TextRecord record = item.head;
  record.emplace_back("account", posting.account);
  record.emplace_back("amount", posting.amount);
  record.emplace_back("commodity", posting.commodity);
  if (!posting.comment.empty()) record.emplace_back("comment", posting.comment);
  return record;
}

ItemLine JudgeGitLogLine(std::string_view line, ItemState*) {
  return IsCommit(line) ? ItemLine::kBegin : ItemLine::kInside;
}

TextRecord ReadCommit(const Item& item) {
  TextRecord record;
  std::string subject, body;
  for (std::size_t at = 0; at < item.record().size();) {
    const Line line = NextLine(item.record(), at);
    at = line.next;
    const std::size_t colon = line.text.find(':');
    if (IsCommit(line.text)) {
      std::string_view rest = TrimSpace(line.text.substr(7));
      record.emplace_back("commit", TakeWord(&rest));
      if (rest.starts_with('(')) record.emplace_back("refs", rest.substr(1, rest.find(')') - 1));
    } else if (line.text.starts_with("    ")) {
      std::string& part = subject.empty() ? subject : body;
      if (!part.empty()) part += '\n';
      part += TrimSpace(line.text);
    } else if (line.text.find(" changed, ") != std::string_view::npos) {
      AddChanges(line.text, &record);
    } else if (subject.empty() && colon != std::string_view::npos && colon < 16) {
      const std::string name = ToLowerAscii(line.text.substr(0, colon));
      const std::string_view value = TrimSpace(line.text.substr(colon + 1));
      const std::size_t mail = value.rfind(" <");
      if (name.ends_with("date")) {
        AddValue(name, IsoOfMailDate(value), &record);
      } else if (mail != std::string_view::npos && value.ends_with('>')) {
        AddValue(name, value.substr(0, mail), &record);
        AddValue(name + "_email", value.substr(mail + 2, value.size() - mail - 3), &record);
      } else {
        AddValue(name, value, &record);
      }
    }
  }
  record.emplace_back("subject", subject);
  record.emplace_back("body", TrimSpace(body));
  return record;
}

}  // namespace dossier::inspect
