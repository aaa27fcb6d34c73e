// Reads what a resource names: its tree, its texts, the hash of its bytes.
//
//   ContentOptions options{.limits = LimitsOf(item), .tree = ContentWanted::kYes, .texts =
//   ContentWanted::kYes}; DOSSIER_ASSIGN_OR_RETURN(const Content content, ReadContent(path,
//   options, cancel));
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
inline constexpr std::size_t kHeadLines = 8;               // of a text that is cut
inline constexpr std::size_t kMaxResourceFiles = 100'000;  // of one item
inline constexpr std::uint64_t kMaxHashed = 8ull << 30;    // bytes of one item; then sizes count

enum class ContentWanted : std::uint8_t { kNo, kYes };

struct ContentOptions {
  ItemLimits limits;
  ContentWanted tree = ContentWanted::kNo, texts = ContentWanted::kNo;
  std::vector<std::string> include_files;  // these alone are shown, in this order; empty: all
};

struct Content {
  std::vector<std::string> tree;  // folders end in "/"
  std::vector<ResourceText> texts;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  std::string sha256;  // over paths and bytes: neither times nor where it lies
  std::vector<std::string> warnings;
};

// Of a file or a folder; links in it are not followed, nor is a text read that one leads out to.
// Errors: kNotFound, kPermission, kIo, kCancelled.
Result<Content> ReadContent(const std::string& path, const ContentOptions& options,
                            const CancelToken& cancel);

// At most `chars` code points: the first lines, what was left out, the end. -1: whole.
std::string Excerpt(std::string_view text, std::int64_t chars);

// Brings repositories to this machine.
//
//   const Fetched fetched = FetchRepository(origin, run_folder + "/data/" + origin.name, cancel);
//   if (fetched.status == FetchStatus::kFailed) Say(fetched.reason);
//
// git is started without a shell, without hooks and without a question to the user. A folder that
// is there was fetched whole, and stays. Thread-safety: functions over files.

struct Fetched {
  FetchStatus status = FetchStatus::kPending;
  std::string reason;  // why it failed
  std::string head;    // commit
};

// "owner/name" is of GitHub; a path or an address is taken as it is.
std::string RepositoryAddress(const std::string& repo);
Fetched FetchRepository(const ResourceOrigin& origin, const std::string& folder,
                        const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCE_CONTENT_H_
