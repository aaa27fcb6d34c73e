#include "tokens/files/gguf.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

constexpr std::size_t kFirstRead = 8u << 20, kMostHead = 256u << 20;  // bytes
constexpr std::uint64_t kMostValues = 100'000;                        // of the metadata
constexpr std::uint64_t kMostKey = 65'535;  // bytes, from the format's description

// The types of values, from GGUF's description.
enum Type : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

struct ShapeField {
  std::string_view name;  // after the architecture
  std::uint64_t GgufShape::* field;
};
constexpr ShapeField kShapeFields[] = {{"context_length", &GgufShape::context_length},
                                       {"block_count", &GgufShape::layers},
                                       {"embedding_length", &GgufShape::width},
                                       {"attention.head_count", &GgufShape::heads},
                                       {"attention.head_count_kv", &GgufShape::kv_heads},
                                       {"attention.key_length", &GgufShape::key_width},
                                       {"attention.value_length", &GgufShape::value_width}};

// Returns the bytes of a fixed-size value; 0 if the size is not fixed.
std::size_t SizeOf(std::uint32_t type) {
  constexpr std::array<std::size_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < kSizes.size() ? kSizes[type] : 0;
}

class GgufReader {
 public:
  explicit GgufReader(std::string_view bytes) : bytes_(bytes) {}

  // Reads the metadata. Errors: kDamaged; kTooLong if only the end is missing.
  Status Read(GgufFile* file) {
    std::uint32_t magic = 0, version = 0;
    std::uint64_t tensors = 0, values = 0;
    if (!std::string_view("GGUF").starts_with(bytes_.substr(0, 4))) {
      return Damaged("it is no GGUF file");
    }
    DOSSIER_RETURN_IF_ERROR(Number(&magic));
    DOSSIER_RETURN_IF_ERROR(Number(&version));
    if (version < 2 || version > 3) {
      return MakeError(ErrorCode::kUnavailable, "GGUF version {} is not read, only 2 and 3",
                       version);
    }
    DOSSIER_RETURN_IF_ERROR(Number(&tensors));
    DOSSIER_RETURN_IF_ERROR(Number(&values));
    if (values > kMostValues) return Damaged(fmt::format("it says it has {} values", values));
    for (; values > 0; --values) DOSSIER_RETURN_IF_ERROR(Value(file));
    return {};
  }
  // Returns the bytes read.
  std::size_t at() const { return at_; }

 private:
  tl::unexpected<Error> Damaged(std::string_view what) const {
    return MakeError(ErrorCode::kDamaged, "damaged at byte {}: {}", at_, what);
  }

  Status Need(std::uint64_t bytes) const {
    if (bytes <= bytes_.size() - at_) return {};
    return MakeError(ErrorCode::kTooLong, "cut short at byte {}", at_);
  }

  template <typename T>
  Status Number(T* out) {
    DOSSIER_RETURN_IF_ERROR(Need(sizeof(T)));
    std::memcpy(out, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return {};
  }

  Status Text(std::string_view* out) {
    std::uint64_t size = 0;
    DOSSIER_RETURN_IF_ERROR(Number(&size));
    if (size > kMostHead) return Damaged(fmt::format("a text of {} bytes", size));
    DOSSIER_RETURN_IF_ERROR(Need(size));
    *out = bytes_.substr(at_, size);
    at_ += size;
    return {};
  }

  Status Value(GgufFile* file) {
    std::string_view key;
    std::uint32_t type = 0;
    DOSSIER_RETURN_IF_ERROR(Text(&key));
    if (key.size() > kMostKey) return Damaged("a name that is too long");
    DOSSIER_RETURN_IF_ERROR(Number(&type));
    if (type == kString) {
      std::string_view text;
      DOSSIER_RETURN_IF_ERROR(Text(&text));
      if (key == "general.name") file->name = text;
      if (key == "tokenizer.ggml.model") file->model = text;
      if (key == "tokenizer.ggml.pre") file->pre = text;
      return {};
    }
    if (type == kArray) return Array(key, file);
    if (type == kUint32 || type == kInt32 || type == kUint64 || type == kInt64) {
      return Whole(key, type, file);
    }
    if (type == kBool && key == "tokenizer.ggml.add_space_prefix") {
      std::uint8_t number = 0;
      DOSSIER_RETURN_IF_ERROR(Number(&number));
      file->add_space_prefix = number != 0;
      return {};
    }
    return Skip(type, 1);
  }

  Status Whole(std::string_view key, std::uint32_t type, GgufFile* file) {
    std::uint64_t number = 0;
    if (type == kUint64 || type == kInt64) {
      DOSSIER_RETURN_IF_ERROR(Number(&number));
    } else {
      std::uint32_t small = 0;
      DOSSIER_RETURN_IF_ERROR(Number(&small));
      number = small;
    }
    key.remove_prefix(std::min(key.size(), key.find('.')));
    for (const ShapeField& known : kShapeFields) {
      if (key.size() == known.name.size() + 1 && key.substr(1) == known.name) {
        file->shape.*known.field = number;
      }
    }
    return {};
  }

  Status Array(std::string_view key, GgufFile* file) {
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    DOSSIER_RETURN_IF_ERROR(Number(&type));
    DOSSIER_RETURN_IF_ERROR(Number(&count));
    if (type == kString) {
      if (key == "tokenizer.ggml.tokens") return Texts(count, &file->tokens);
      if (key == "tokenizer.ggml.merges") return Texts(count, &file->merges);
    }
    if (key == "tokenizer.ggml.token_type" && type == kInt32) return Numbers(count, &file->types);
    if (key == "tokenizer.ggml.scores" && type == kFloat32) return Numbers(count, &file->scores);
    return Skip(type, count);
  }

  Status Texts(std::uint64_t count, std::vector<std::string_view>* out) {
    out->clear();
    for (; count > 0; --count) DOSSIER_RETURN_IF_ERROR(Text(&out->emplace_back()));
    return {};
  }

  template <typename T>
  Status Numbers(std::uint64_t count, std::vector<T>* out) {
    if (count > kMostHead) return Damaged(fmt::format("a list of {} values", count));
    DOSSIER_RETURN_IF_ERROR(Need(count * sizeof(T)));
    out->resize(count);
    if (count > 0) std::memcpy(out->data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return {};
  }

  Status Skip(std::uint32_t type, std::uint64_t count) {
    if (type == kString) {
      std::string_view unused;
      for (; count > 0; --count) DOSSIER_RETURN_IF_ERROR(Text(&unused));
      return {};
    }
    const std::size_t size = SizeOf(type);
    if (size == 0) return Damaged(fmt::format("a value of the unknown type {}", type));
    if (count > kMostHead) return Damaged(fmt::format("a list of {} values", count));
    DOSSIER_RETURN_IF_ERROR(Need(count * size));
    at_ += count * size;
    return {};
  }

  const std::string_view bytes_;
  std::size_t at_ = 0;
};

struct KnownSplit {
  std::string_view pre;  // tokenizer.ggml.pre
  SplitRule rule;
  WholePieces pieces;
};

// Names of llama.cpp's splits that equal one of our rules.
constexpr KnownSplit kSplits[] = {
    {"qwen2", SplitRule::kQwen2, WholePieces::kIfMerged},
    {"deepseek-r1-qwen", SplitRule::kQwen2, WholePieces::kIfMerged},
    {"megrez", SplitRule::kQwen2, WholePieces::kIfMerged},
    {"llama3", SplitRule::kLlama3, WholePieces::kAlways},
    {"llama-v3", SplitRule::kLlama3, WholePieces::kAlways},
    {"llama-bpe", SplitRule::kLlama3, WholePieces::kAlways},
    {"smaug-bpe", SplitRule::kLlama3, WholePieces::kIfMerged},
    {"gpt-2", SplitRule::kGpt2, WholePieces::kIfMerged},
    {"phi-2", SplitRule::kGpt2, WholePieces::kIfMerged},
    {"gpt-4o", SplitRule::kO200k, WholePieces::kIfMerged},
};

// llama.cpp's token types.
constexpr std::int32_t kNormal = 1, kByHand = 4;

// Returns true if a byte is unchanged in the printable form of tokens.
constexpr bool Prints(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// The other bytes in order; U+0100 and following code points represent them.
constexpr auto kMoved = [] {
  std::array<unsigned char, 68> moved{};
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!Prints(byte)) moved[count++] = static_cast<unsigned char>(byte);
  }
  return moved;
}();

}  // namespace

std::optional<std::uint64_t> GgufShape::KvBytes() const {
  // Larger values are implausible, and these limits keep products from overflowing.
  constexpr std::uint64_t kMost = 1u << 20, kMostLayers = 4096;
  const std::uint64_t own = heads > 0 ? width / heads : 0;
  const std::uint64_t key = key_width > 0 ? key_width : own;
  const std::uint64_t value = value_width > 0 ? value_width : own;
  const std::uint64_t kept = kv_heads > 0 ? kv_heads : heads;
  if (layers == 0 || kept == 0 || key == 0 || value == 0) return std::nullopt;
  if (layers > kMostLayers || kept > kMost || key > kMost || value > kMost) return std::nullopt;
  return layers * kept * (key + value) * 2;
}

Result<std::optional<GgufFile>> ParseGguf(std::string head) {
  GgufFile file;
  file.head = std::move(head);
  GgufReader reader(file.head);
  const Status read = reader.Read(&file);
  if (read) {
    file.head.resize(reader.at());  // shrinking does not move the data
    return std::optional(std::move(file));
  }
  if (read.error().code == ErrorCode::kTooLong) return std::optional<GgufFile>();
  return tl::unexpected(read.error());
}

Result<GgufFile> ReadGguf(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  for (std::size_t size = kFirstRead; size <= kMostHead; size *= 4) {
    std::string head(size, '\0');
    std::size_t got = 0;
    while (got < size) {
      const ssize_t part = pread(fd.get(), head.data() + got, size - got, static_cast<off_t>(got));
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) return MakeErrnoError(errno, path);
      if (part == 0) break;
      got += static_cast<std::size_t>(part);
    }
    head.resize(got);
    auto file = ParseGguf(std::move(head));
    if (!file) return MakeError(file.error().code, "{}: {}", path, file.error().message);
    if (*file) return std::move(**file);
    if (got < size) return MakeError(ErrorCode::kDamaged, "{}: cut short", path);
  }
  return MakeError(ErrorCode::kTooLong, "{}: its metadata is larger than {} MiB", path,
                   kMostHead >> 20);
}

std::optional<std::string> BytesOfPrintable(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = utf8::Next(token, &at);
    if (c < 256 && Prints(c)) {
      bytes += static_cast<char>(c);
    } else if (c >= 0x100 && c - 0x100 < kMoved.size()) {
      bytes += static_cast<char>(kMoved[c - 0x100]);
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::vector<AddedTokens::Token> AddedTokensOf(const GgufFile& file) {
  std::vector<AddedTokens::Token> added;
  for (std::uint32_t id = 0; id < std::min(file.tokens.size(), file.types.size()); ++id) {
    if (file.types[id] != kByHand || file.tokens[id].empty()) continue;
    added.push_back({std::string(file.tokens[id]), id});
  }
  return added;
}

Result<SentencePieces> SentencePiecesOf(const GgufFile& file) {
  // For these models, llama.cpp lets added tokens take the white space after them, by model name.
  std::string name = file.name;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return ToLower(c); });
  for (const std::string_view phi : {"phi-3", "phi3"}) {
    if (name.find(phi) == std::string::npos || AddedTokensOf(file).empty()) continue;
    return MakeError(ErrorCode::kUnavailable,
                     "a tokenizer of {}, whose added tokens take the spaces behind them, is not "
                     "counted here",
                     phi);
  }
  if (!file.scores.empty() && file.scores.size() != file.tokens.size()) {
    return MakeError(ErrorCode::kDamaged, "it has {} tokens and {} scores", file.tokens.size(),
                     file.scores.size());
  }
  std::vector<SentencePieces::Token> tokens;
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    tokens.push_back({file.tokens[id], file.scores.empty() ? 0 : file.scores[id]});
  }
  return SentencePieces::Make(tokens);
}

Result<ModelVocabulary> VocabularyOf(const GgufFile& file) {
  if (file.model != "gpt2") {
    return MakeError(ErrorCode::kUnavailable, "a tokenizer of the kind \"{}\" is not counted here",
                     file.model);
  }
  const auto* split = std::find_if(std::begin(kSplits), std::end(kSplits),
                                   [&](const KnownSplit& known) { return known.pre == file.pre; });
  if (split == std::end(kSplits)) {
    return MakeError(ErrorCode::kUnavailable, "its splitting \"{}\" is not known here", file.pre);
  }
  ModelVocabulary out{.added = AddedTokensOf(file)};
  out.source = {.rule = split->rule, .pieces = split->pieces, .ranks_only = false};
  std::unordered_map<std::string_view, std::uint32_t> by_text;
  for (std::uint32_t id = 0; id < file.tokens.size(); ++id) {
    const std::int32_t type = id < file.types.size() ? file.types[id] : kNormal;
    if (type != kNormal) continue;
    const std::string_view text = file.tokens[id];
    auto bytes = BytesOfPrintable(text);
    if (!bytes || !by_text.emplace(text, out.source.tokens.size()).second) continue;
    out.source.tokens.push_back({std::move(*bytes), id, 0});
  }
  for (const std::string_view merge : file.merges) {
    const std::size_t space = merge.find(' ', 1);
    const auto left = by_text.find(merge.substr(0, space));
    const auto right =
        space == std::string_view::npos ? by_text.end() : by_text.find(merge.substr(space + 1));
    if (left == by_text.end() || right == by_text.end()) {
      return MakeError(ErrorCode::kDamaged, "its merge \"{}\" is not of two tokens",
                       utf8::CleanForTerminal(utf8::Prefix(merge, 60)));
    }
    out.source.merges.push_back({left->second, right->second});
  }
  return out;
}

}  // namespace dossier::tokens
