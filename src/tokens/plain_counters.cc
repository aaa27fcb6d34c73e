#include "base/utf8.h"
#include "tokens/counter.h"

namespace dossier::tokens {
namespace {

class CharCounter final : public Counter {
 public:
  Count CountText(std::string_view text) const override {
    return {.tokens = static_cast<std::int64_t>(utf8::CodePoints(text)), .exact = true};
  }
  std::string name() const override { return "chars"; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }
};

class ByteCounter final : public Counter {
 public:
  Count CountText(std::string_view text) const override {
    return {.tokens = static_cast<std::int64_t>(text.size()), .exact = true};
  }
  std::string name() const override { return "bytes"; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }
};

}  // namespace

std::shared_ptr<const Counter> MakeCharCounter() { return std::make_shared<const CharCounter>(); }
std::shared_ptr<const Counter> MakeByteCounter() { return std::make_shared<const ByteCounter>(); }

}  // namespace dossier::tokens
