// The documents of a context and their copies, some of which are made while the model answers its
// first request.
//
//   auto set = std::make_shared<LoadedContext>(std::move(documents), notes, left_out, cancel);
//   set->StartCopies(options);
//   DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, set->Stored(0));  // waits for its copy
//
// Thread-safety: the methods of ContextSet from any thread, once StartCopies has returned.

#ifndef DOSSIER_ASK_DOCUMENTS_LOADED_CONTEXT_H_
#define DOSSIER_ASK_DOCUMENTS_LOADED_CONTEXT_H_

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/context_set.h"
#include "base/cancel.h"
#include "base/result.h"
#include "inspect/text/byte_source.h"
#include "store/content.h"

namespace dossier::ask {

inline constexpr std::size_t kCopyBlock = 1u << 20;  // bytes read at once

// Decodes the whole source to UTF-8 into the store, with the encoding in the description. With
// `named` the copy has no name there. Errors: those of the source and of the store.
Result<StoredText> StoreDecoded(const inspect::ByteSource& source,
                                const inspect::Description& description,
                                const std::optional<FileReference>& named,
                                const store::ContentStore& content, const CancelToken& cancel);

// Makes an immutable text in memory, for a worker to map. Errors: kIo.
Result<StoredText> Seal(std::string_view text, std::string_view name);

// `named`: no copy of the file is kept.
std::string ChangedSentence(std::string_view path, const inspect::SourceState& before,
                            const inspect::SourceState& now,
                            const std::optional<FileReference>& named);

// One document and its copy, which may not be complete yet.
struct LoadedDocument {
  ContextDocument document;
  std::shared_ptr<inspect::ByteSource> source;
  // State of the source when it was described; unset if only this program can change it.
  std::optional<inspect::SourceState> before;
  std::optional<FileReference> named;
  mutable std::once_flag joined;
  mutable std::future<Result<StoredText>> copy;
  mutable Result<StoredText> stored = MakeError(ErrorCode::kInternal, "the copy was not started");
};

class LoadedContext final : public ContextSet {
 public:
  LoadedContext(std::vector<std::unique_ptr<LoadedDocument>> entries,
                std::vector<std::string> notes, std::uint64_t files_left_out,
                const CancelToken& cancel);
  ~LoadedContext() override;

  // Starts the copies that were deferred.
  void StartCopies(const ContextOptions& options);

  const std::vector<ContextDocument>& documents() const override { return documents_; }
  std::uint64_t characters() const override { return characters_; }
  std::uint64_t bytes() const override { return bytes_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::uint64_t files_left_out() const override { return files_left_out_; }
  Result<const StoredText*> Stored(std::size_t index) const override;
  bool WaitForCopies(Clock::Steady until) const override;

 private:
  std::vector<std::unique_ptr<LoadedDocument>> entries_;
  std::vector<ContextDocument> documents_;
  std::vector<std::string> notes_;
  std::uint64_t files_left_out_;
  std::uint64_t characters_ = 0, bytes_ = 0;
  CancelSource stop_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_LOADED_CONTEXT_H_
