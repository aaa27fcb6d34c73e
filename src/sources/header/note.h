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

#include <cstdint>
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

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_NOTE_H_
