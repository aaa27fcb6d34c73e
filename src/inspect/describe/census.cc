#include "inspect/describe/census.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/text/utf8.h"
#include "inspect/text/text_stream.h"

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
// The amount that a thread counts before it takes more. Large enough that restoring the order of
// results is cheap, small enough that a file of a few megabytes keeps two threads busy.
constexpr std::uint64_t kChunkBytes = 4 << 20;
constexpr std::size_t kTailBytes = 16 << 10;

// The contribution of one chunk of UTF-8 (or 8-bit) text.
struct ChunkCount {
  TextCount text;
  std::uint64_t first_invalid = kNone;
  std::uint64_t end = 0;  // stored offset after the chunk
  std::optional<std::string> read_error;
  bool ended = false;  // the source ends in this chunk
  std::unique_ptr<RecordPart> records;
};

// `block` must start and end at code point borders.
void CountBlock(std::string_view block, std::uint64_t offset, ChunkCount* count) {
  const TextCount text = CountText(block);
  if (text.utf8.invalid > 0 && count->first_invalid == kNone) {
    count->first_invalid = offset + utf8::FirstInvalid(block);
  }
  count->text.Append(text);
}

// Returns the code point border at or before `offset`, so that two threads agree on it. Beyond the
// end of the source it returns `offset`.
Result<std::uint64_t> SnapToCodePoint(const ByteSource& source, std::uint64_t start,
                                      std::uint64_t offset) {
  constexpr std::uint64_t kAround = 4;
  if (offset <= start) return start;
  char around[2 * kAround];
  const std::uint64_t from = offset - std::min(kAround, offset - start);
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(from, std::span(around)));
  const auto inside = static_cast<std::size_t>(offset - from);
  if (got <= inside) return offset;
  return from + utf8::FloorBoundary({around, got}, inside);
}

class Utf8Counter {
 public:
  Utf8Counter(const ByteSource& source, const CensusOptions& options)
      : source_(source), options_(options), limit_(kNone) {}

  Result<TextCensus> Run() {
    if (options_.max_scan) {
      DOSSIER_ASSIGN_OR_RETURN(limit_,
                               SnapToCodePoint(source_, options_.start, *options_.max_scan));
    }
    std::vector<std::thread> helpers;
    const std::uint64_t known = std::min(source_.size().value_or(kNone), limit_);
    const auto useful = static_cast<int>(std::min<std::uint64_t>(known / kChunkBytes + 1, 64));
    try {
      for (int i = 1; i < std::min(options_.threads, useful); ++i) {
        helpers.emplace_back([this] { Work(); });
      }
    } catch (const std::system_error&) {
      // No more threads are available; those that started do all the work.
    }
    Work();
    for (std::thread& helper : helpers) helper.join();
    if (options_.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    return Finish();
  }

 private:
  void Work() {
    while (!stop_.load(std::memory_order_relaxed) && !options_.cancel.cancelled()) {
      const std::uint64_t index = next_chunk_.fetch_add(1);
      const std::uint64_t from = options_.start + index * kChunkBytes;
      if (index > 0 && from >= limit_) return;
      ChunkCount count = CountChunk(from, std::min(from + kChunkBytes, limit_));
      if (count.ended || count.read_error) stop_.store(true, std::memory_order_relaxed);
      Deliver(index, std::move(count));
    }
  }

  // Counts [from, to) without the code point that `from` cuts; the one that `to` cuts belongs to
  // the next chunk.
  ChunkCount CountChunk(std::uint64_t from, std::uint64_t to) {
    ChunkCount count;
    const auto start = SnapToCodePoint(source_, options_.start, from);
    if (!start) {
      count.read_error = start.error().message;
      count.end = from;
      return count;
    }
    // If the border cannot be read, the stream finds out how far it can read.
    const auto end =
        to == limit_ ? Result<std::uint64_t>(to) : SnapToCodePoint(source_, options_.start, to);
    const std::uint64_t stop = end.value_or(to);
    if (options_.records) {
      count.records = options_.records->Start(*start - options_.start, stop - options_.start);
    }
    TextStream stream(source_, {.start = *start,
                                .limit = stop,
                                .block_bytes = options_.block_bytes,
                                .cancel = options_.cancel});
    while (true) {
      const std::uint64_t at = stream.position();
      const auto block = stream.Next();
      if (!block) {
        if (block.error().code != ErrorCode::kCancelled) count.read_error = block.error().message;
        break;
      }
      if (block->empty()) break;
      CountBlock(*block, at, &count);
      if (count.records) count.records->Feed(*block);
    }
    count.end = stream.position();
    count.ended = count.end < to && count.end < stop;
    if (count.records) FeedTail(count.end, count.records.get());
    return count;
  }

  // Feeds the rest of the record that the chunk cuts. One that is longer than a chunk stays open:
  // the pass reads it again later, instead of every thread reading to the end of the text.
  void FeedTail(std::uint64_t from, RecordPart* part) {
    TextStream stream(source_, {.start = from,
                                .limit = std::min(limit_, from + kChunkBytes),
                                .block_bytes = kTailBytes,
                                .cancel = options_.cancel});
    while (part->open()) {
      const auto block = stream.Next();
      if (!block) return;
      if (block->empty()) {
        if (stream.position() < from + kChunkBytes) part->EndText();
        return;
      }
      part->FeedTail(*block);
    }
  }

  // Joins chunks in order, whichever thread finishes first.
  void Deliver(std::uint64_t index, ChunkCount count) {
    std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(count));
    while (!waiting_.empty() && waiting_.begin()->first == joined_ && !closed_) {
      Join(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
      ++joined_;
    }
  }

  void Join(ChunkCount count) {
    total_.text.Append(count.text);
    if (count.first_invalid != kNone && !total_.read_error && !found_invalid_) {
      found_invalid_ = true;
      total_.first_invalid = count.first_invalid;
    }
    if (count.records) options_.records->Join(std::move(count.records));
    total_.bytes = std::max(total_.bytes, count.end);
    if (count.read_error) {
      total_.read_error = count.read_error;
      total_.complete = false;
      closed_ = true;
    }
    if (count.ended) closed_ = true;
  }

  Result<TextCensus> Finish() {
    total_.invalid = total_.text.utf8.invalid;
    if (options_.max_scan && !total_.read_error) {
      char probe[1];
      const auto more = source_.ReadAt(limit_, std::span(probe));
      if (more && *more > 0) total_.complete = false;
    }
    return total_;
  }

  const ByteSource& source_;
  const CensusOptions& options_;
  std::uint64_t limit_;
  std::atomic<std::uint64_t> next_chunk_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards everything below
  std::map<std::uint64_t, ChunkCount> waiting_;
  std::uint64_t joined_ = 0;
  bool closed_ = false;  // the end, or an error, was reached: later chunks are ignored
  bool found_invalid_ = false;
  TextCensus total_;
};

Result<TextCensus> CountWide(const ByteSource& source, const CensusOptions& options) {
  TextCensus total;
  const std::uint64_t limit = options.max_scan.value_or(kNone);
  TextStream stream(source, {.kind = options.kind,
                             .start = options.start,
                             .limit = limit,
                             .block_bytes = options.block_bytes,
                             .cancel = options.cancel});
  while (true) {
    const auto block = stream.Next();
    if (!block && block.error().code == ErrorCode::kCancelled) {
      return tl::unexpected(block.error());
    }
    if (!block) {
      total.read_error = block.error().message;
      total.complete = false;
      break;
    }
    if (block->empty()) break;
    total.text.Append(CountText(*block));
  }
  total.bytes = stream.position();
  total.invalid = stream.invalid();
  total.first_invalid = stream.first_invalid();
  char probe[1];
  const auto more = source.ReadAt(total.bytes, std::span(probe));
  if (options.max_scan && more && *more > 0) total.complete = false;
  return total;
}

Result<std::string> HashOf(const ByteSource& source, const CensusOptions& options) {
  Sha256 hash;
  std::string buffer(options.block_bytes < 4096 ? 4096 : options.block_bytes, '\0');
  const std::uint64_t limit = options.max_scan.value_or(kNone);
  for (std::uint64_t at = 0; at < limit;) {
    if (options.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), limit - at));
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t got,
                             source.ReadAt(at, std::span(buffer).first(wanted)));
    if (got == 0) break;
    hash.Update(std::string_view(buffer).substr(0, got));
    at += got;
  }
  return hash.Hex();
}

bool IsWide(EncodingKind kind) {
  return kind != EncodingKind::kUtf8 && kind != EncodingKind::kUnknown8Bit &&
         kind != EncodingKind::kBinary;
}

}  // namespace

Result<TextCensus> TakeCensus(const ByteSource& source, const CensusOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(TextCensus census, IsWide(options.kind)
                                                  ? CountWide(source, options)
                                                  : Utf8Counter(source, options).Run());
  if (options.hash) {
    auto sha256 = HashOf(source, options);
    if (sha256) {
      census.sha256 = std::move(*sha256);
    } else if (sha256.error().code == ErrorCode::kCancelled) {
      return tl::unexpected(std::move(sha256).error());
    }
  }
  return census;
}

}  // namespace dossier::inspect
