#include "inspect/text/redacted_source.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/redact.h"
#include "inspect/text/encoding.h"
#include "inspect/text/text_stream.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kHead = 64 << 10;  // bytes used to detect the encoding

Result<TextStreamOptions> OptionsFor(const ByteSource& source, const CancelToken& cancel) {
  std::string head(kHead, '\0');
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(0, std::span(head)));
  head.resize(got);
  const EncodingGuess guess = GuessEncoding(head);
  TextStreamOptions options{.cancel = cancel};
  // Binary data passes unchanged.
  if (guess.kind != EncodingKind::kBinary) {
    options.kind = guess.kind;
    options.start = guess.bom_bytes;
  }
  return options;
}

// The output that is left of a source that is redacted while it is read.
class Reading {
 public:
  Reading(std::unique_ptr<ByteSource> source, CancelToken cancel)
      : source_(std::move(source)), cancel_(std::move(cancel)) {}

  Result<std::size_t> Read(std::span<char> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (used_ == ready_.size() && !ended_) DOSSIER_RETURN_IF_ERROR(Refill());
      const std::size_t count = std::min(ready_.size() - used_, out.size() - filled);
      if (count == 0 && ended_) break;
      std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(used_), count,
                  out.begin() + static_cast<std::ptrdiff_t>(filled));
      used_ += count;
      filled += count;
    }
    return filled;
  }

 private:
  Status Refill() {
    if (!stream_) {
      DOSSIER_ASSIGN_OR_RETURN(TextStreamOptions options, OptionsFor(*source_, cancel_));
      stream_ = std::make_unique<TextStream>(*source_, std::move(options));
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::string_view block, stream_->Next());
    ended_ = block.empty();
    ready_ = ended_ ? redact_.Finish() : redact_.Add(block);
    used_ = 0;
    return {};
  }

  const std::unique_ptr<ByteSource> source_;
  const CancelToken cancel_;
  std::unique_ptr<TextStream> stream_;
  RedactStream redact_;
  std::string ready_;
  std::size_t used_ = 0;  // bytes of ready_
  bool ended_ = false;
};

}  // namespace

Result<std::uint64_t> CountSecrets(const ByteSource& source, const CancelToken& cancel,
                                   std::uint64_t max_scan) {
  DOSSIER_ASSIGN_OR_RETURN(TextStreamOptions options, OptionsFor(source, cancel));
  TextStream stream(source, std::move(options));
  RedactStream redact;
  for (std::uint64_t scanned = 0; scanned < max_scan;) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string_view block, stream.Next());
    if (block.empty()) break;
    redact.Add(block);
    scanned += block.size();
  }
  redact.Finish();
  return redact.found();
}

std::unique_ptr<ByteSource> RedactedSource(std::unique_ptr<ByteSource> source,
                                           const CancelToken& cancel) {
  std::string name = source->name();
  const auto reading = std::make_shared<Reading>(std::move(source), cancel);
  return StreamSource([reading](std::uint64_t, std::span<char> out) { return reading->Read(out); },
                      std::move(name));
}

}  // namespace dossier::inspect
