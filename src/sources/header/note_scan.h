// All notes of `agent_notes/`, and what of them is worth a look.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NoteScan scan, ScanNotes(root));
//   for (const Note& note : scan.notes) if (note.queue == "ready_for_review") …
//
// Thread-safety: plain data, functions over files that are only read.

#ifndef DOSSIER_SOURCES_HEADER_NOTE_SCAN_H_
#define DOSSIER_SOURCES_HEADER_NOTE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/header/note.h"

namespace dossier::sources {

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

#endif  // DOSSIER_SOURCES_HEADER_NOTE_SCAN_H_
