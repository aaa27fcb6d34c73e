// A note of `agent_notes/`: Markdown with front matter that people and models write by hand.
//
//   const Note note = ParseNote("ready_for_review/2025-10-29__task-217__feat-auth.md", text);
//   note.id;       // "task-217"
//   note.red();    // it must not be reviewed
//
// The reader never fails: a line that it cannot read loses only itself and is listed as a problem.
// Thread-safety: plain data and pure functions, but MarkNoteRed.

#ifndef DOSSIER_SOURCES_HEADER_NOTE_H_
#define DOSSIER_SOURCES_HEADER_NOTE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::sources {

inline constexpr std::size_t kMaxNoteBytes = 64 << 10;  // read of a file
inline constexpr std::int64_t kNoRank = 9999;
inline constexpr std::string_view kGreen = "green", kRed = "red";

struct Note {
  std::string queue;           // the folder: "ready_for_review"
  std::string file;            // the name in it
  std::string id;              // of the front matter, else of the file's name
  std::string status{kGreen};  // in small letters
  std::vector<std::string> targets;
  std::int64_t rank = kNoRank;
  std::int64_t mtime_ns = 0;          // since 1970; 0 from ParseNote
  std::vector<std::string> problems;  // what `agents lint-notes` says of it, as sentences
  std::string text;                   // only where ScanNotes is asked for it

  std::string path() const { return queue + "/" + file; }
  bool red() const { return status == kRed; }
};

// `path` is QUEUE/FILE. Bytes that are no UTF-8 stay as they are.
Note ParseNote(std::string_view path, std::string_view text);

// What follows the front matter.
std::string_view NoteBody(std::string_view text);
// The text of the first heading outside code; "" if there is none.
std::string FirstHeading(std::string_view body);

// `text` with `status: red` in its front matter: the value of the last status line is replaced, or
// a line is added; all other bytes stay.
std::string WithStatusRed(std::string_view text);
// The same to the file at `path`, durably; mode and owner stay.
Status MarkNoteRed(const std::string& path);

// All notes of `agent_notes/`, and what of them is worth a look.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NoteScan scan, ScanNotes(root));
//   for (const Note& note : scan.notes) if (note.queue == "ready_for_review") …
//
// Thread-safety: plain data, functions over files that are only read.

// The four folders.
inline constexpr std::string_view kReadyQueue = "ready_for_review";
inline constexpr std::string_view kProposedQueue = "proposed_tasks";
inline constexpr std::string_view kFeedbackQueue = "notes_FROM_CTO";
inline constexpr std::string_view kScratchQueue = "scratch";
inline constexpr std::string_view kQueues[] = {kReadyQueue, kProposedQueue, kFeedbackQueue,
                                               kScratchQueue};

struct NoteScan {
  std::vector<Note> notes;              // by queue, then by the bytes of the name
  std::vector<std::string> unreadable;  // QUEUE/FILE: WHY, of files that could not be read
  std::size_t skipped = 0;              // those, and files that vanished
};

struct NoteScanOptions {
  enum class Texts : std::uint8_t { kDropped, kKept };

  std::string folder = "agent_notes";  // relative to the root
  std::span<const std::string_view> queues = kQueues;
  Texts texts = Texts::kDropped;
};

// Reads the first 64 KiB of every regular file without a leading dot; links and folders are passed
// over. A missing folder is empty. Errors: kConfig if `folder` is no folder.
Result<NoteScan> ScanNotes(const std::string& root, const NoteScanOptions& options = {});

// Newest first, ties by path bytes.
bool IsNewer(const Note& a, const Note& b);

// "QUEUE/FILE: PROBLEM", sorted, of everything that is wrong with a note, ids used twice in a queue
// too.
std::vector<std::string> LintNotes(const NoteScan& scan);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_NOTE_H_
