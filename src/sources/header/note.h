// A note in `agent_notes/`: Markdown with front matter, written by hand by people and models.
//
//   const Note note = ParseNote("ready_for_review/2025-10-29__task-217__feat-auth.md", text);
//   note.id;       // "task-217"
//   note.red();    // it must not be reviewed
//
// The reader never fails: a line that it cannot read is skipped and listed as a problem.
// Thread-safety: plain data and pure functions, except MarkNoteRed.

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

inline constexpr std::size_t kMaxNoteBytes = 64 << 10;  // read from a file
inline constexpr std::int64_t kNoRank = 9999;
inline constexpr std::string_view kGreen = "green", kRed = "red";

struct Note {
  std::string queue;           // the folder: "ready_for_review"
  std::string file;            // the name in that folder
  std::string id;              // from the front matter, else from the file name
  std::string status{kGreen};  // in lower case
  std::vector<std::string> targets;
  std::int64_t rank = kNoRank;
  std::int64_t mtime_ns = 0;          // since 1970; 0 from ParseNote
  std::vector<std::string> problems;  // sentences that `agents lint-notes` reports
  std::string text;                   // only if ScanNotes is asked for it

  std::string path() const { return queue + "/" + file; }
  bool red() const { return status == kRed; }
};

// `path` is QUEUE/FILE. Invalid UTF-8 bytes are kept.
Note ParseNote(std::string_view path, std::string_view text);

// Returns the text after the front matter.
std::string_view NoteBody(std::string_view text);
// Returns the text of the first heading outside code; "" if there is none.
std::string FirstHeading(std::string_view body);

// Returns `text` with `status: red` in its front matter: replaces the value of the last status line
// or adds a line; all other bytes are kept.
std::string WithStatusRed(std::string_view text);
// Does the same to the file at `path`, durably; its mode and owner are kept.
Status MarkNoteRed(const std::string& path);

// Finds all notes of `agent_notes/` and the problems in them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NoteScan scan, ScanNotes(root));
//   for (const Note& note : scan.notes) if (note.queue == "ready_for_review") …
//
// Thread-safety: plain data, functions over files that are only read.

// The names of the four folders.
inline constexpr std::string_view kReadyQueue = "ready_for_review";
inline constexpr std::string_view kProposedQueue = "proposed_tasks";
inline constexpr std::string_view kFeedbackQueue = "notes_FROM_CTO";
inline constexpr std::string_view kScratchQueue = "scratch";
inline constexpr std::string_view kQueues[] = {kReadyQueue, kProposedQueue, kFeedbackQueue,
                                               kScratchQueue};

struct NoteScan {
  std::vector<Note> notes;              // by queue, then by file name in byte order
  std::vector<std::string> unreadable;  // QUEUE/FILE: WHY, for files that could not be read
  std::size_t skipped = 0;              // number of those and of files that vanished
};

struct NoteScanOptions {
  enum class Texts : std::uint8_t { kDropped, kKept };

  std::string folder = "agent_notes";  // relative to the root
  std::span<const std::string_view> queues = kQueues;
  Texts texts = Texts::kDropped;
};

// Reads the first 64 KiB of every regular file without a leading dot; skips links and folders. A
// missing folder counts as empty. Errors: kConfig if `folder` is not a folder.
Result<NoteScan> ScanNotes(const std::string& root, const NoteScanOptions& options = {});

// Orders notes newest first, ties by path bytes.
bool IsNewer(const Note& a, const Note& b);

// Returns sorted lines "QUEUE/FILE: PROBLEM" for everything that is wrong with a note, including
// ids that occur twice in a queue.
std::vector<std::string> LintNotes(const NoteScan& scan);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_NOTE_H_
