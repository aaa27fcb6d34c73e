#include "ask/documents/loaded_context.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "inspect/text/encoding.h"
#include "inspect/text/text_stream.h"

namespace dossier::ask {
namespace {

Result<StoredText> Adopt(store::StoredBody body, std::string_view name) {
  StoredText text;
  DOSSIER_ASSIGN_OR_RETURN(text.map, MappedFile::FromFd(body.fd.get(), name));
  text.fd = std::move(body.fd);
  text.sha256 = std::move(body.sha256);
  return text;
}

}  // namespace

Result<StoredText> StoreDecoded(const inspect::ByteSource& source,
                                const inspect::Description& description,
                                const std::optional<FileReference>& named,
                                const store::ContentStore& content, const CancelToken& cancel) {
  using Keep = store::ContentWriter::Keep;
  DOSSIER_ASSIGN_OR_RETURN(
      auto writer, store::ContentWriter::Start(content, named ? Keep::kOpen : Keep::kStored));
  const inspect::TextEncoding& encoding = description.encoding;
  std::string head(4, '\0');
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(0, head));
  inspect::TextStream stream(
      source, {.kind = encoding.kind,
               .replace_invalid = encoding.invalid > 0,
               .start = inspect::BomBytes(encoding.kind, std::string_view(head).substr(0, got)),
               .block_bytes = kCopyBlock,
               .cancel = cancel});
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string_view block, stream.Next());
    if (block.empty()) break;
    DOSSIER_RETURN_IF_ERROR(writer.Write(block));
  }
  DOSSIER_ASSIGN_OR_RETURN(store::StoredBody body, std::move(writer).Finish());
  DOSSIER_ASSIGN_OR_RETURN(StoredText text, Adopt(std::move(body), description.name));
  text.named = named;
  return text;
}

Result<StoredText> Seal(std::string_view text, std::string_view name) {
  StoredText stored;
  stored.fd = UniqueFd(memfd_create("context", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!stored.fd.valid()) return MakeErrnoError(errno, "memfd_create");
  DOSSIER_RETURN_IF_ERROR(WriteAll(stored.fd.get(), text));
  if (fcntl(stored.fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
    return MakeErrnoError(errno, "fcntl");
  }
  DOSSIER_ASSIGN_OR_RETURN(stored.map, MappedFile::FromFd(stored.fd.get(), name));
  stored.sha256 = Sha256Hex(text);
  return stored;
}

std::string ChangedSentence(std::string_view path, const inspect::SourceState& before,
                            const inspect::SourceState& now,
                            const std::optional<FileReference>& named) {
  return fmt::format("{} changed while it was read ({} bytes, now {}); {}", path,
                     GroupDigits(before.size), GroupDigits(now.size),
                     named
                         ? "it is above store.copy_limit, so no copy is stored, and what was read "
                           "of it may be of no single moment"
                         : "the stored copy is used");
}

namespace {

// The file may have changed between description and copy; code must be told about the copy.
Result<StoredText> Copy(const LoadedDocument& entry, const store::ContentStore& content,
                        const inspect::Options& how, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(StoredText text, StoreDecoded(*entry.source, entry.document.description,
                                                         entry.named, content, cancel));
  const inspect::SourceState now = entry.source->state();
  if (!entry.before || now == *entry.before) return text;
  text.changed = ChangedSentence(entry.document.path, *entry.before, now, entry.named);
  text.description = inspect::DescribeText(text.map.bytes(), entry.document.path, how);
  return text;
}

}  // namespace

LoadedContext::LoadedContext(std::vector<std::unique_ptr<LoadedDocument>> entries,
                             std::vector<std::string> notes, std::uint64_t files_left_out,
                             const CancelToken& cancel)
    : entries_(std::move(entries)),
      notes_(std::move(notes)),
      files_left_out_(files_left_out),
      stop_(cancel) {
  for (const auto& entry : entries_) {
    documents_.push_back(entry->document);
    characters_ += entry->document.description.counts.chars;
    bytes_ += entry->document.description.counts.bytes;
  }
}

LoadedContext::~LoadedContext() { stop_.Cancel("the context is no longer needed"); }

void LoadedContext::StartCopies(const ContextOptions& options) {
  for (const auto& entry : entries_) {
    if (entry->copy.valid() || entry->stored) continue;
    entry->copy = std::async(std::launch::async,
                             [content = options.content, how = options.inspect, item = entry.get(),
                              token = stop_.token()] { return Copy(*item, *content, how, token); });
  }
}

Result<const StoredText*> LoadedContext::Stored(std::size_t index) const {
  if (index >= entries_.size()) {
    return MakeError(ErrorCode::kInvalidArgument, "document {} of {} does not exist", index,
                     entries_.size());
  }
  const LoadedDocument& entry = *entries_[index];
  std::call_once(entry.joined, [&entry] {
    if (entry.copy.valid()) entry.stored = entry.copy.get();
  });
  if (!entry.stored) return tl::unexpected(entry.stored.error());
  return &*entry.stored;
}

bool LoadedContext::WaitForCopies(Clock::Steady until) const {
  return std::ranges::all_of(entries_, [until](const auto& entry) {
    return !entry->copy.valid() || entry->copy.wait_until(until) == std::future_status::ready;
  });
}

}  // namespace dossier::ask
