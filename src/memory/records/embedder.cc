#include "memory/records/embedder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/files/file.h"
#include "base/json/json.h"

namespace dossier::memory {

Vector ToVector(std::span<const float> sum) {
  constexpr float kLargest = 127;
  float largest = 0;
  for (const float part : sum) {
    if (!std::isfinite(part)) return {};
    largest = std::max(largest, std::abs(part));
  }
  if (largest == 0) return {};
  Vector vector(sum.size());
  std::ranges::transform(sum, vector.begin(), [&](float part) {
    return static_cast<std::int8_t>(std::lround(part / largest * kLargest));
  });
  return vector;
}

std::int64_t Dot(std::span<const std::int8_t> a, std::span<const std::int8_t> b) {
  constexpr std::size_t kBlock = 64;  // a constant, so that the compiler vectorises
  std::int64_t total = 0;
  std::size_t at = 0;
  for (; at + kBlock <= a.size(); at += kBlock) {
    const std::int8_t* const x = a.data() + at;
    const std::int8_t* const y = b.data() + at;
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += std::int16_t{x[i]} * std::int16_t{y[i]};
    total += sum;
  }
  for (; at < a.size(); ++at) total += std::int32_t{a[at]} * b[at];
  return total;
}

double Cosine(std::span<const std::int8_t> a, std::span<const std::int8_t> b) {
  const auto product = static_cast<double>(Dot(a, b));
  const double lengths = static_cast<double>(Dot(a, a)) * static_cast<double>(Dot(b, b));
  return lengths > 0 ? product / std::sqrt(lengths) : 0;
}

namespace {

constexpr std::size_t kMostBytes = 1U << 30;   // size of a weights file
constexpr std::size_t kMostHeader = 1U << 20;  // bytes
constexpr std::int64_t kMostTokens = 1 << 21, kMostDimensions = 1 << 14;
constexpr std::size_t kNumberBytes = 2;

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "no weights of an embedding (safetensors): {}", what);
}

// IEEE 754 binary16.
float FromHalf(std::uint16_t half) {
  const int exponent = half >> 10U & 0x1FU;
  const auto fraction = static_cast<float>(half & 0x3FFU);
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1F) return std::numeric_limits<float>::quiet_NaN();  // or infinite: no number
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

std::uint64_t ReadLittleEndian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

// Two integers of a list, the first at least `least`.
struct Pair {
  std::int64_t first = 0, second = 0;
};
std::optional<Pair> FindPair(const Json& object, std::string_view key) {
  const Json* list = Find(object, key);
  if (!list || !list->is_array() || list->as_array().size() != 2) return std::nullopt;
  const JsonArray& numbers = list->as_array();
  if (!numbers[0].is_int64() || !numbers[1].is_int64()) return std::nullopt;
  return Pair{numbers[0].as_int64(), numbers[1].as_int64()};
}

}  // namespace

TokenTable::TokenTable(std::string bytes, std::size_t start, std::size_t tokens,
                       std::size_t dimensions)
    : bytes_(std::move(bytes)), start_(start), tokens_(tokens), dimensions_(dimensions) {
  constexpr std::size_t kHalves = 1 << 16;
  values_.reserve(kHalves);
  for (std::size_t half = 0; half < kHalves; ++half) {
    values_.push_back(FromHalf(static_cast<std::uint16_t>(half)));
  }
}

Result<TokenTable> TokenTable::Parse(std::string bytes) {
  constexpr std::size_t kSizeBytes = 8;
  if (bytes.size() < kSizeBytes) return Damaged("it is too short");
  const std::uint64_t header = ReadLittleEndian(bytes, 0, kSizeBytes);
  if (header > std::min(kMostHeader, bytes.size() - kSizeBytes))
    return Damaged("its header's size");
  constexpr int kDepth = 8;
  const auto json = ParseJson(std::string_view(bytes).substr(kSizeBytes, header), kDepth);
  if (!json || !json->is_object()) return Damaged("its header is no JSON object");
  const Json* tensor = nullptr;
  for (const auto& entry : json->as_object()) {
    if (entry.key() == "__metadata__") continue;
    if (tensor) return Damaged("it has more than one tensor");
    tensor = &entry.value();
  }
  if (!tensor || !tensor->is_object()) return Damaged("it has no tensor");
  if (FindString(*tensor, "dtype") != "F16") return Damaged("its numbers are not F16");
  const auto shape = FindPair(*tensor, "shape"), place = FindPair(*tensor, "data_offsets");
  if (!shape || shape->first < 1 || shape->first > kMostTokens || shape->second < 1 ||
      shape->second > kMostDimensions) {
    return Damaged("its shape is none of tokens and dimensions");
  }
  const std::size_t start = kSizeBytes + header;
  const auto rest = static_cast<std::int64_t>(bytes.size() - start);
  const std::int64_t size = shape->first * shape->second * static_cast<std::int64_t>(kNumberBytes);
  if (!place || place->first < 0 || place->second > rest || place->first > place->second ||
      place->second - place->first != size) {
    return Damaged("its tensor has another size than it says");
  }
  return TokenTable(std::move(bytes), start + static_cast<std::size_t>(place->first),
                    static_cast<std::size_t>(shape->first),
                    static_cast<std::size_t>(shape->second));
}

void TokenTable::AddRow(tokens::TokenId token, std::span<float> sum) const {
  if (token >= tokens_) return;
  const char* row = bytes_.data() + start_ + token * dimensions_ * kNumberBytes;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, row + i * kNumberBytes, kNumberBytes);
    if constexpr (std::endian::native == std::endian::big) {
      half = static_cast<std::uint16_t>(half << 8U | half >> 8U);
    }
    sum[i] += values_[half];
  }
}

namespace {

class TokenEmbedder final : public Embedder {
 public:
  explicit TokenEmbedder(TokenEmbedderFiles files) : files_(std::move(files)) {}

  const std::string& name() const override { return files_.name; }

  Result<Vector> Embed(std::string_view text) const override {
    DOSSIER_ASSIGN_OR_RETURN(const Loaded* const loaded, Load());
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<tokens::TokenId> tokens,
                             loaded->counter->Encode(text));
    std::vector<float> sum(loaded->table.dimensions(), 0.0F);
    for (const tokens::TokenId token : tokens) loaded->table.AddRow(token, sum);
    return ToVector(sum);
  }

 private:
  struct Loaded {
    std::shared_ptr<const tokens::Counter> counter;
    TokenTable table;
  };

  Result<const Loaded*> Load() const {
    const std::lock_guard lock(mutex_);
    if (!loaded_) {
      DOSSIER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(files_.weights, kMostBytes));
      auto table = TokenTable::Parse(std::move(bytes));
      if (!table) {
        return MakeError(table.error().code, "{}: {}", files_.weights, table.error().message);
      }
      DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened,
                               tokens::Open("hf:" + files_.tokenizer, files_.paths));
      loaded_ =
          std::make_unique<const Loaded>(Loaded{std::move(opened.counter), *std::move(table)});
    }
    return loaded_.get();
  }

  const TokenEmbedderFiles files_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const Loaded> loaded_;
};

}  // namespace

std::shared_ptr<const Embedder> MakeTokenEmbedder(TokenEmbedderFiles files) {
  return std::make_shared<const TokenEmbedder>(std::move(files));
}

}  // namespace dossier::memory
