#include "tokens/files/vocabulary_files.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "tokens/files/gguf.h"

namespace dossier::tokens {
namespace {

constexpr std::string_view kSpaceSign = "\u2581";  // replaces a space in SentencePiece

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "no tokenizer.json: {}", what);
}
tl::unexpected<Error> NotCounted(std::string_view what, std::string_view name) {
  return MakeError(ErrorCode::kUnavailable, "{} \"{}\" is not counted here", what,
                   utf8::CleanForTerminal(utf8::Prefix(name, 60)));
}

// Returns the byte of "<0x0A>"; -1 for any other text.
int FallbackByte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  const int high = digit(text[3]), low = digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

class Parser {
 public:
  explicit Parser(const Json& file) : file_(file) {}

  Result<JsonVocabulary> Parse() {
    const Json* model = Find(file_, "model");
    if (!model || !model->is_object()) return Damaged("it has no model");
    const std::string_view type = FindString(*model, "type").value_or("BPE");
    if (type != "BPE") return NotCounted("a model of the type", type);
    fallback_ = FindBool(*model, "byte_fallback").value_or(false);
    DOSSIER_RETURN_IF_ERROR(CheckModel(*model));
    DOSSIER_RETURN_IF_ERROR(ReadNormalizer(Find(file_, "normalizer")));
    out_.source.rule = SplitRule::kNone;
    DOSSIER_RETURN_IF_ERROR(ReadSplitting(Find(file_, "pre_tokenizer")));
    if (byte_level_ == fallback_) {
      return NotCounted("a vocabulary that is", fallback_ ? "byte-level with byte fall-back"
                                                          : "neither byte-level nor with byte "
                                                            "fall-back");
    }
    out_.source.base = fallback_ ? BaseSymbols::kCodePoints : BaseSymbols::kBytes;
    out_.source.pieces = FindBool(*model, "ignore_merges").value_or(false) ? WholePieces::kAlways
                                                                           : WholePieces::kIfMerged;
    out_.source.ranks_only = false;
    DOSSIER_RETURN_IF_ERROR(ReadAdded());
    DOSSIER_RETURN_IF_ERROR(ReadTokens(Find(*model, "vocab")));
    DOSSIER_RETURN_IF_ERROR(ReadMerges(Find(*model, "merges")));
    return std::move(out_);
  }

 private:
  static Status CheckModel(const Json& model) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!FindString(model, key).value_or("").empty()) return NotCounted("a model with", key);
    }
    const Json* dropout = Find(model, "dropout");
    if (dropout && !dropout->is_null() && FindNumber(model, "dropout").value_or(0) != 0) {
      return NotCounted("a model with", "dropout");
    }
    return {};
  }

  Status ReadNormalizer(const Json* step) {
    using Kind = NormalStep::Kind;
    if (!step || step->is_null()) return {};
    const std::string_view type = FindString(*step, "type").value_or("");
    if (type == "Sequence") return EachOf(*step, "normalizers", &Parser::ReadNormalizer);
    for (const auto& [name, kind] :
         {std::pair("NFC", Kind::kNfc), std::pair("NFKC", Kind::kNfkc),
          std::pair("NFD", Kind::kNfd), std::pair("NFKD", Kind::kNfkd)}) {
      if (type != name) continue;
      out_.steps.push_back({.kind = kind});
      return {};
    }
    if (type == "Prepend") {
      const auto text = FindString(*step, "prepend");
      if (!text) return Damaged("a Prepend without text");
      out_.steps.push_back({.kind = Kind::kPrepend, .to = std::string(*text)});
      return {};
    }
    const Json* pattern = Find(*step, "pattern");
    const auto from = pattern ? FindString(*pattern, "String") : std::nullopt;
    const auto to = FindString(*step, "content");
    if (type != "Replace" || !from || from->empty() || !to)
      return NotCounted("the normaliser", type);
    out_.steps.push_back({Kind::kReplace, std::string(*from), std::string(*to)});
    return {};
  }

  Status ReadSplitting(const Json* step) {
    if (!step || step->is_null()) return {};
    const std::string_view type = FindString(*step, "type").value_or("");
    if (type == "Sequence") return EachOf(*step, "pretokenizers", &Parser::ReadSplitting);
    if (type == "ByteLevel") return ReadByteLevel(*step);
    if (type == "Split") return ReadSplit(*step);
    if (type == "Metaspace") return ReadMetaspace(*step);
    return NotCounted("the splitting", type);
  }

  Status ReadByteLevel(const Json& step) {
    byte_level_ = true;
    if (FindBool(step, "add_prefix_space").value_or(true)) {
      return NotCounted("a ByteLevel with", "add_prefix_space");
    }
    if (!FindBool(step, "use_regex").value_or(true)) return {};
    if (out_.source.rule != SplitRule::kNone) return NotCounted("a second", "splitting");
    out_.source.rule = SplitRule::kGpt2;
    return {};
  }

  Status ReadSplit(const Json& step) {
    const Json* pattern = Find(step, "pattern");
    const auto regex = pattern ? FindString(*pattern, "Regex") : std::nullopt;
    const std::string_view behavior = FindString(step, "behavior").value_or("");
    if (!regex || FindBool(step, "invert").value_or(false))
      return NotCounted("a Split", "of this kind");
    if (behavior != "Isolated") return NotCounted("a Split whose behaviour is", behavior);
    if (out_.source.rule != SplitRule::kNone) return NotCounted("a second", "splitting");
    const auto rule = RuleOfPattern(*regex);
    out_.source.rule = rule.value_or(SplitRule::kPattern);
    if (rule) return {};
    DOSSIER_ASSIGN_OR_RETURN(out_.pattern, Pattern::Compile(*regex));
    return {};
  }

  // As the normaliser of older files: a sign for each space, and one before the text.
  Status ReadMetaspace(const Json& step) {
    using Kind = NormalStep::Kind;
    const bool splits = FindBool(step, "split").value_or(true);
    const std::string_view scheme = FindString(step, "prepend_scheme").value_or("always");
    if (splits || FindString(step, "replacement").value_or("") != kSpaceSign) {
      return NotCounted("a Metaspace", "that splits");
    }
    if (scheme != "never" && scheme != "always" && scheme != "first") {
      return NotCounted("a Metaspace that prepends", scheme);
    }
    out_.steps.push_back({Kind::kReplace, " ", std::string(kSpaceSign)});
    // Unlike the normaliser, it adds none if there is a sign already.
    if (scheme != "never") out_.steps.push_back({Kind::kStartWith, "", std::string(kSpaceSign)});
    return {};
  }

  Status EachOf(const Json& step, std::string_view key, Status (Parser::*read)(const Json*)) {
    const Json* list = Find(step, key);
    if (!list || !list->is_array()) return Damaged(fmt::format("a Sequence without {}", key));
    for (const Json& one : list->as_array()) DOSSIER_RETURN_IF_ERROR((this->*read)(&one));
    return {};
  }

  Status ReadAdded() {
    const Json* list = Find(file_, "added_tokens");
    if (!list || !list->is_array()) return {};
    for (const Json& token : list->as_array()) {
      const auto text = FindString(token, "content");
      const auto id = FindInt(token, "id");
      if (!text || text->empty() || !id || *id < 0 || *id >= kMostTokens) {
        return Damaged("an added token without text or number");
      }
      by_hand_.emplace(*text, true);
      if (FindBool(token, "special").value_or(false)) continue;
      for (const char* key : {"lstrip", "rstrip", "single_word"}) {
        if (FindBool(token, key).value_or(false)) return NotCounted("an added token with", key);
      }
      if (!out_.steps.empty()) return NotCounted("an added token beside", "a normaliser");
      out_.added.push_back({std::string(*text), static_cast<TokenId>(*id)});
    }
    return {};
  }

  Status ReadTokens(const Json* vocab) {
    if (!vocab || !vocab->is_object()) return Damaged("its model has no vocab");
    if (fallback_) out_.byte_ids.emplace();
    int bytes_found = 0;
    for (const auto& entry : vocab->as_object()) {
      const std::string_view text = entry.key();
      const auto id = entry.value().is_int64() ? entry.value().as_int64() : -1;
      if (id < 0 || id >= kMostTokens) return Damaged("a token's number is out of range");
      if (by_hand_.count(text) != 0 || text.empty()) continue;
      if (const int byte = fallback_ ? FallbackByte(text) : -1; byte >= 0) {
        (*out_.byte_ids)[static_cast<std::size_t>(byte)] = static_cast<TokenId>(id);
        ++bytes_found;
        continue;
      }
      auto bytes = byte_level_ ? BytesOfPrintable(text) : std::optional(std::string(text));
      if (!bytes) continue;  // no text produces it
      by_text_.emplace(text, static_cast<std::uint32_t>(out_.source.tokens.size()));
      out_.source.tokens.push_back({std::move(*bytes), static_cast<std::uint32_t>(id), 0});
    }
    if (fallback_ && bytes_found != 256) return Damaged("tokens of its byte fall-back are missing");
    return {};
  }

  Status ReadMerges(const Json* merges) {
    if (!merges || !merges->is_array()) return Damaged("its model has no merges");
    for (const Json& merge : merges->as_array()) {
      std::string_view left, right;
      if (merge.is_string()) {
        const std::string_view both = merge.as_string();
        const std::size_t space = both.find(' ');
        if (space != std::string_view::npos) {
          left = both.substr(0, space);
          right = both.substr(space + 1);
        }
      } else if (merge.is_array() && merge.as_array().size() == 2 &&
                 merge.as_array()[0].is_string() && merge.as_array()[1].is_string()) {
        left = merge.as_array()[0].as_string();
        right = merge.as_array()[1].as_string();
      }
      const auto first = by_text_.find(left), second = by_text_.find(right);
      if (first == by_text_.end() || second == by_text_.end()) {
        return Damaged("a merge is not of two tokens");
      }
      out_.source.merges.push_back({first->second, second->second});
    }
    return {};
  }

  const Json& file_;
  JsonVocabulary out_;
  bool byte_level_ = false, fallback_ = false;
  std::unordered_map<std::string_view, bool> by_hand_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
};

}  // namespace

Result<JsonVocabulary> ParseTokenizerJson(std::string_view bytes) {
  auto file = ParseJson(bytes);
  if (!file) return Damaged(file.error().message);
  return Parser(*file).Parse();
}

namespace {

std::string Decomposed(std::string_view text, int options) {
  utf8proc_uint8_t* out = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &out,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

}  // namespace

std::string Normalize(const std::vector<NormalStep>& steps, std::string_view text) {
  using Kind = NormalStep::Kind;
  std::string out(text);
  for (const NormalStep& step : steps) {
    switch (step.kind) {
      case Kind::kNfc:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        break;
      case Kind::kNfkc:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
        break;
      case Kind::kNfd:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
        break;
      case Kind::kNfkd:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
        break;
      case Kind::kPrepend:
        if (!out.empty()) out.insert(0, step.to);
        break;
      case Kind::kStartWith:
        if (!out.empty() && !out.starts_with(step.to)) out.insert(0, step.to);
        break;
      case Kind::kReplace:
        out = ReplaceAll(out, step.from, step.to);
        break;
    }
  }
  return out;
}

namespace {

constexpr PublicEncoding kEncodings[] = {
    {"cl100k_base",
     "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
     100256,
     SplitRule::kCl100k,
     {.bytes_per_token = 3.7, .margin = 0.15}},
    {"o200k_base",
     "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
     199998,
     SplitRule::kO200k,
     {.bytes_per_token = 4.2, .margin = 0.15}},
};

bool ParseLine(std::string_view line, SourceToken* token) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !AppendBase64(line.substr(0, space), &token->text) ||
      token->text.empty()) {
    return false;
  }
  const auto rank = ExactNumber<decltype(token->rank)>(line.substr(space + 1));
  token->outer = token->rank = rank.value_or(0);
  return rank.has_value();
}

}  // namespace

std::span<const PublicEncoding> PublicEncodings() { return kEncodings; }

const PublicEncoding* FindPublicEncoding(std::string_view name) {
  for (const PublicEncoding& encoding : kEncodings) {
    if (encoding.name == name) return &encoding;
  }
  return nullptr;
}

Result<std::vector<SourceToken>> ParseRanks(std::string_view bytes) {
  std::vector<SourceToken> tokens;
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    SourceToken token;
    if (!ParseLine(bytes.substr(0, end), &token)) {
      return MakeError(ErrorCode::kDamaged, "line {}: no token in base64 and rank", line);
    }
    tokens.push_back(std::move(token));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return tokens;
}

Result<VocabularySource> ReadRankFile(const PublicEncoding& encoding, std::string_view bytes) {
  const std::string sha256 = Sha256Hex(bytes);
  if (sha256 != encoding.sha256) {
    return MakeError(ErrorCode::kDamaged,
                     "{}.tiktoken: hash mismatch: SHA-256 is {} instead of {}; fetch it again with "
                     "scripts/setup",
                     encoding.name, sha256, encoding.sha256);
  }
  VocabularySource source{.rule = encoding.rule, .pieces = WholePieces::kAlways};
  DOSSIER_ASSIGN_OR_RETURN(source.tokens, ParseRanks(bytes));
  if (source.tokens.size() != encoding.lines) {
    return MakeError(ErrorCode::kDamaged, "{}.tiktoken: {} lines instead of {}", encoding.name,
                     source.tokens.size(), encoding.lines);
  }
  return source;
}

}  // namespace dossier::tokens
