// Texts whose records have delimiters: calendars, address cards, references, subtitles, journals,
// mail folders, ruled tables, XML elements, HTML table rows, settings.
//
//   const std::string shape = DetectItems(Format::kCalendar, head).shape;
//   const Items items = FindItems(Format::kCalendar, shape, text);
//   for (const ByteRange& range : items.ranges)
//     Use(ReadItem(Format::kCalendar, shape, text, items, range));
//
// A line-based format is a row of kLineFormats (items.cc): it classifies each line and reads one
// record. Elements are found by tags (markup_items.cc). Counting and finding use the same
// functions, so they agree. All work is linear in the text. Thread-safety: pure functions.

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

// The role of a line for the records of its text.
enum class ItemLine : std::uint8_t {
  kOutside,  // belongs to no record, and ends an open one
  kBegin,
  kInside,  // part of the open record, if there is one
  kEnd,     // the record's last line
  kWhole,   // a record by itself
  kHead,    // applies to the records after it
};

// State that a format keeps from line to line.
struct ItemState {
  int depth = 0;
  bool open = false;  // kept by the caller: true while a record is open
};

// Data before records that applies to each of them: the date of a booking, the name of a track.
struct ItemHead {
  std::uint64_t offset = 0;  // of the first record to which it may apply
  TextRecord cells;
  std::ptrdiff_t outer = -1;  // index of the enclosing head that still applies; -1: none
};

struct Items {
  std::vector<ByteRange> ranges;
  std::vector<ItemHead> heads;
};

struct Item {
  std::string_view text;   // the whole text
  ByteRange range;         // the record's range
  const TextRecord& head;  // empty: none
  std::string_view record() const { return Slice(text, range); }
};

struct LineFormat {
  Format format;
  // Returns true if a text may begin like this.
  bool (*begins)(std::string_view head);
  int items;    // minimum number of records
  int percent;  // minimum share of the text in records and heads
  ItemLine (*judge)(std::string_view line, ItemState* state);
  TextRecord (*read)(const Item& item);
  TextRecord (*head)(std::string_view text, std::uint64_t line);  // null: the format has no heads
};

// Returns true if this file handles the records of the format.
bool HasItems(Format format);
ShapeScan DetectItems(Format format, std::string_view head);
Items FindItems(Format format, std::string_view shape, std::string_view text);
TextRecord ReadItem(Format format, std::string_view shape, std::string_view text,
                    const Items& items, const ByteRange& range);
std::unique_ptr<RecordCounter> MakeItemCounter(Format format, std::string_view shape);
std::vector<TextRecord> ParseItemsHead(Format format, std::string_view head, std::string_view shape,
                                       std::size_t limit);

// Helpers that the formats share.

// Adds a value to the field of that name, after "; " if it already has one.
void AddValue(std::string_view name, std::string_view value, TextRecord* record);
// Converts 20240301T090000Z, 20240301 or 2024-03-01 to ISO 8601; returns anything else unchanged.
std::string IsoOfCompact(std::string_view text);
// Converts Mon, 1 Jan 2024 10:00:00 +0100 and Mon Jan 1 10:00:00 2024 +0100 to ISO 8601; returns
// anything else unchanged.
std::string IsoOfMailDate(std::string_view text);
// Decodes quoted-printable. kSpaces: underscores are spaces, as in mail headers.
enum class Underscores : std::uint8_t { kKept, kSpaces };
std::string DecodeQuotedPrintable(std::string_view text, Underscores underscores);
// Returns the text as UTF-8: if it is not UTF-8, it is read as ISO 8859-1.
std::string ToUtf8(std::string text);
// Returns the amount in a text such as `€1.234,50` in JSON form, or "" if there is none. *rest gets
// the remaining text.
std::string TakeAmount(std::string_view text, std::string* rest);

// The functions for the rows of kLineFormats.
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

// The functions for elements: markup_items.cc.
ShapeScan DetectElements(Format format, std::string_view head);
Items FindElements(Format format, std::string_view shape, std::string_view text);
TextRecord ReadElement(Format format, const Item& item);
std::unique_ptr<RecordCounter> MakeElementCounter(Format format, std::string_view shape);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_ITEMS_H_
