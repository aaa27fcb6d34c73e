// Reads the content of a resource: its tree, its texts, the hash of its bytes.
//
//   ContentOptions options{.limits = LimitsOf(item), .tree = ContentWanted::kYes};
//   options.texts = ContentWanted::kYes;
//   DOSSIER_ASSIGN_OR_RETURN(const Content content, ReadContent(path, options, cancel));
//
// Thread-safety: functions over files.

#ifndef DOSSIER_RESEARCH_RESOURCES_RESOURCE_CONTENT_H_
#define DOSSIER_RESEARCH_RESOURCES_RESOURCE_CONTENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/resources/resource_policy.h"
#include "research/resources/resources.h"

namespace dossier::research {

inline constexpr int kTreeDepth = 4;
inline constexpr std::uint64_t kMaxTextFile = 200'000;     // bytes; larger ones are not shown
inline constexpr std::size_t kHeadLines = 8;               // of a shortened text
inline constexpr std::size_t kMaxResourceFiles = 100'000;  // per item
inline constexpr std::uint64_t kMaxHashed = 8ull << 30;    // bytes per item; beyond, sizes only

enum class ContentWanted : std::uint8_t { kNo, kYes };

struct ContentOptions {
  ItemLimits limits;
  ContentWanted tree = ContentWanted::kNo, texts = ContentWanted::kNo;
  std::vector<std::string> include_files;  // only these are shown, in this order; empty: all
};

struct Content {
  std::vector<std::string> tree;  // folders end in "/"
  std::vector<ResourceText> texts;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  std::string sha256;  // over relative paths and bytes, not over times
  std::vector<std::string> warnings;
};

// Reads a file or a folder; links in it are not followed, and a text reached by a link that leads
// out is not read. Errors: kNotFound, kPermission, kIo, kCancelled.
Result<Content> ReadContent(const std::string& path, const ContentOptions& options,
                            const CancelToken& cancel);

// Returns at most `chars` code points: the first lines, a note on the gap, the end. -1: whole.
std::string Excerpt(std::string_view text, std::int64_t chars);

// Fetches repositories to this machine.
//
//   const Fetched fetched = FetchRepository(origin, run_folder + "/data/" + origin.name, cancel);
//   if (fetched.status == FetchStatus::kFailed) Say(fetched.reason);
//
// git is started without a shell, hooks or prompts. An existing folder was fetched completely, and
// is kept. Thread-safety: functions over files.

struct Fetched {
  FetchStatus status = FetchStatus::kPending;
  std::string reason;  // why it failed
  std::string head;    // commit id
};

// "owner/name" refers to GitHub; a path or URL is used unchanged.
std::string RepositoryAddress(const std::string& repo);
Fetched FetchRepository(const ResourceOrigin& origin, const std::string& folder,
                        const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCE_CONTENT_H_
