#include "memory/consolidate/compress.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

std::int64_t Length(std::string_view text) {
  return static_cast<std::int64_t>(utf8::CodePoints(text));
}

std::string KeyOf(const CompressRequest& request, const std::string& model) {
  return Sha256Hex(
      ToJson(JsonArray{request.text, request.max_chars, request.hint, request.context, model}));
}

// Pieces of at most `most` code points, each ending at a line end where there is one in its second
// half.
std::vector<std::string_view> Pieces(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::string_view piece =
        utf8::Prefix(text, static_cast<std::uint64_t>(std::max<std::int64_t>(most, 1)));
    if (piece.size() < text.size()) {
      const std::size_t line_end = piece.rfind('\n');
      if (line_end != std::string_view::npos && line_end > piece.size() / 2) {
        piece = piece.substr(0, line_end + 1);
      }
    }
    pieces.push_back(piece);
    text.remove_prefix(piece.size());
  }
  return pieces;
}

// One pass over the whole text, in pieces that the model takes.
Result<std::string> Shortened(const Summarizer& summarizer, const CompressRequest& request,
                              std::string_view text, int& calls) {
  const std::vector<std::string_view> pieces = Pieces(text, summarizer.window_chars);
  std::vector<std::string> parts;
  for (const std::string_view piece : pieces) {
    ++calls;
    DOSSIER_ASSIGN_OR_RETURN(const std::string part,
                             summarizer.summarize({.purpose = SummaryRequest::Purpose::kCompress,
                                                   .text = std::string(piece),
                                                   .max_chars = std::max<std::int64_t>(
                                                       request.max_chars / std::ssize(pieces), 1),
                                                   .hint = request.hint,
                                                   .context = request.context}));
    parts.emplace_back(TrimSpace(part));
  }
  return Join(parts, "\n");
}

// Calls the model until the text fits or stops shrinking. Whether all calls succeeded.
bool Shorten(const Summarizer& summarizer, const CompressRequest& request, int most_passes,
             Compressed& made) {
  for (int pass = 0; pass < most_passes && Length(made.text) > request.max_chars; ++pass) {
    Result<std::string> shorter = Shortened(summarizer, request, made.text, made.calls);
    if (!shorter) {
      made.warnings.push_back({"summary_failed", shorter.error().message});
      return false;
    }
    if (shorter->empty() || Length(*shorter) >= Length(made.text)) break;
    made.text = *std::move(shorter);
  }
  return true;
}

}  // namespace

std::string CutWithDots(std::string_view text, std::int64_t max_chars) {
  max_chars = std::max<std::int64_t>(max_chars, 0);
  if (std::cmp_less_equal(text.size(), max_chars) || Length(text) <= max_chars) {
    return std::string(text);
  }
  if (max_chars < 4) return std::string(utf8::Prefix(text, static_cast<std::uint64_t>(max_chars)));
  return std::string(utf8::Prefix(text, static_cast<std::uint64_t>(max_chars - 3))) + "...";
}

Result<Compressed> Compress(Store& store, const Summarizer& summarizer,
                            const CompressRequest& request) {
  Compressed made{.text = request.text};
  if (Length(made.text) <= request.max_chars) return made;
  const std::string key = KeyOf(request, summarizer.model);
  bool keep = false;
  if (summarizer.summarize) {
    DOSSIER_ASSIGN_OR_RETURN(std::optional<std::string> kept, store.Remembered(key));
    if (kept) {
      made.text = *std::move(kept);
      return made;
    }
    keep = Shorten(summarizer, request, store.limits().max_compression_iterations, made);
  }
  if (Length(made.text) > request.max_chars) {
    made.text = CutWithDots(made.text, request.max_chars);
    made.warnings.push_back(
        {"summary_cut", fmt::format("the text was cut to {} characters", request.max_chars)});
  }
  if (keep) DOSSIER_RETURN_IF_ERROR(store.Remember(key, made.text));
  return made;
}

}  // namespace dossier::memory
