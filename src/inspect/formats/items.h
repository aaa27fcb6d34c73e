// Texts whose records stand between marks: calendars, address cards, references, subtitles,
// journals, mail folders, ruled tables, elements of XML, rows of HTML tables, settings.
//
//   const std::string shape = DetectItems(Format::kCalendar, head).shape;
//   const Items items = FindItems(Format::kCalendar, shape, text);
//   for (const ByteRange& range : items.ranges)
//     Use(ReadItem(Format::kCalendar, shape, text, items, range));
//
// A format that goes by lines is a row of kLineFormats (items.cc): it says of each line what it is
// to the records, and reads one record. Elements go by tags (markup_items.cc). Counting and finding
// ask the same functions, so they agree. Everything is linear in the text. Thread-safety: pure
// functions.

#ifndef DOSSIER_INSPECT_FORMATS_ITEMS_H_
#define DOSSIER_INSPECT_FORMATS_ITEMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/description.h"
#include "inspect/description/record_range.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {

// What a line is to the records of its text.
enum class ItemLine : std::uint8_t {
  kOutside,  // belongs to none, and ends one that is open
  kBegin,
  kInside,  // of the open one, if there is one
  kEnd,     // its last line
  kWhole,   // a record by itself
  kHead,    // says something of the records behind it
};

// What a format remembers from line to line.
struct ItemState {
  int depth = 0;
  bool open = false;  // kept by the caller: a record is open
};

// What stands in front of records and belongs to each of them: the date of a booking, the name of
// a track.
struct ItemHead {
  std::uint64_t offset = 0;  // of the first record it may belong to
  TextRecord cells;
  std::ptrdiff_t outer = -1;  // the head that goes on to hold, by its place; -1: none
};

struct Items {
  std::vector<ByteRange> ranges;
  std::vector<ItemHead> heads;
};

struct Item {
  std::string_view text;   // of all
  ByteRange range;         // of the record
  const TextRecord& head;  // empty: there is none
  std::string_view record() const { return Slice(text, range); }
};

struct LineFormat {
  Format format;
  // Whether the beginning of a text could be that of such a text.
  bool (*begins)(std::string_view head);
  int items;    // so many records at least
  int percent;  // of the text that are records and heads, at least
  ItemLine (*judge)(std::string_view line, ItemState* state);
  TextRecord (*read)(const Item& item);
  TextRecord (*head)(std::string_view text, std::uint64_t line);  // null: there are no heads
};

// Whether records of the format are found here.
bool HasItems(Format format);
ShapeScan DetectItems(Format format, std::string_view head);
Items FindItems(Format format, std::string_view shape, std::string_view text);
TextRecord ReadItem(Format format, std::string_view shape, std::string_view text,
                    const Items& items, const ByteRange& range);
std::unique_ptr<RecordCounter> MakeItemCounter(Format format, std::string_view shape);
std::vector<TextRecord> ParseItemsHead(Format format, std::string_view head, std::string_view shape,
                                       std::size_t limit);

// What the formats share.

// Adds to the value of that name, behind "; " if it has one.
void AddValue(std::string_view name, std::string_view value, TextRecord* record);
// 20240301T090000Z, 20240301 or 2024-03-01 in ISO 8601; anything else as it is.
std::string IsoOfCompact(std::string_view text);
// Mon, 1 Jan 2024 10:00:00 +0100 and Mon Jan 1 10:00:00 2024 +0100 in ISO 8601; else as it is.
std::string IsoOfMailDate(std::string_view text);
// Bytes of quoted-printable. `underscores`: they are spaces, as in heads of mail.
enum class Underscores : std::uint8_t { kKept, kSpaces };
std::string DecodeQuotedPrintable(std::string_view text, Underscores underscores);
// The text in UTF-8, whatever it was: what is no UTF-8 is read as ISO 8859-1.
std::string ToUtf8(std::string text);
// The amount in a text such as `€1.234,50`, as in JSON; empty: there is none. *rest: what is left.
std::string TakeAmount(std::string_view text, std::string* rest);

// The functions of the rows of kLineFormats.
ItemLine JudgeCalendarLine(std::string_view line, ItemState* state);
TextRecord ReadCalendarItem(const Item& item);
ItemLine JudgeCardLine(std::string_view line, ItemState* state);
TextRecord ReadCard(const Item& item);
ItemLine JudgeBibtexLine(std::string_view line, ItemState* state);
TextRecord ReadBibtex(const Item& item);
ItemLine JudgeRisLine(std::string_view line, ItemState* state);
TextRecord ReadRis(const Item& item);
ItemLine JudgeCueLine(std::string_view line, ItemState* state);
TextRecord ReadCue(const Item& item);
bool BeginsLedger(std::string_view head);
ItemLine JudgeLedgerLine(std::string_view line, ItemState* state);
TextRecord ReadPosting(const Item& item);
TextRecord ReadBookingHead(std::string_view text, std::uint64_t line);
ItemLine JudgeGitLogLine(std::string_view line, ItemState* state);
TextRecord ReadCommit(const Item& item);
ItemLine JudgeMailLine(std::string_view line, ItemState* state);
TextRecord ReadMail(const Item& item);
bool BeginsRuled(std::string_view head);
ItemLine JudgeRuledLine(std::string_view line, ItemState* state);
TextRecord ReadRuledRow(const Item& item);
TextRecord ReadRuler(std::string_view text, std::uint64_t line);
bool BeginsSettings(std::string_view head);
ItemLine JudgeSettingLine(std::string_view line, ItemState* state);
TextRecord ReadSetting(const Item& item);
TextRecord ReadSection(std::string_view text, std::uint64_t line);

// The functions of elements: markup_items.cc.
ShapeScan DetectElements(Format format, std::string_view head);
Items FindElements(Format format, std::string_view shape, std::string_view text);
TextRecord ReadElement(Format format, const Item& item);
std::unique_ptr<RecordCounter> MakeElementCounter(Format format, std::string_view shape);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_ITEMS_H_
