
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <unordered_set>

#include "base/net/url.h"
#include "base/text/text.h"
#include "model/schema/schema_keywords.h"

namespace dossier::model {
namespace {

constexpr std::uint32_t kMostMatchSteps = 1'000'000;  // per match
constexpr std::uint32_t kMostHeap = 20'000;           // KiB per match

// Keywords that only describe, in any draft, and keywords that programs add by convention.
constexpr std::string_view kDescribing[] = {
    "$anchor",     "$comment",    "$dynamicAnchor",  "$id",
    "$schema",     "$vocabulary", "contentEncoding", "contentMediaType",
    "default",     "deprecated",  "contentSchema",   "$recursiveAnchor",
    "description", "examples",    "format",          "id",
    "readOnly",    "title",       "writeOnly"};
bool SaysNothing(std::string_view key) {
  return key.starts_with("x-") || std::ranges::find(kDescribing, key) != std::end(kDescribing);
}

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

class CompiledPattern final : public SchemaPattern {
 public:
  explicit CompiledPattern(pcre2_code* code)
      : code_(code), context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context_.get(), kMostMatchSteps);
    pcre2_set_heap_limit(context_.get(), kMostHeap);
  }

  Found Find(std::string_view text) const override {
    const std::unique_ptr<pcre2_match_data, Free> match(pcre2_match_data_create(1, nullptr));
    if (!match) return Found::kTooCostly;
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), 0, 0, match.get(), context_.get());
    if (found == PCRE2_ERROR_NOMATCH) return Found::kNo;
    return found < 0 ? Found::kTooCostly : Found::kYes;
  }

 private:
  const std::unique_ptr<pcre2_code, Free> code_;
  const std::unique_ptr<pcre2_match_context, Free> context_;
};

constexpr std::size_t kMostSchemas = 100'000;

// Resolves "c.json" against "https://x.org/a/b.json" to "https://x.org/a/c.json". Only the part of
// RFC 3986 that references within one document need.
std::string ResolveUri(std::string_view base, std::string_view reference) {
  if (reference.find("://") != reference.npos || reference.starts_with("urn:")) {
    return std::string(reference);
  }
  if (reference.empty()) return std::string(base);
  const std::size_t authority = base.find("://");
  const std::size_t host_end =
      authority == base.npos ? 0 : std::min(base.find('/', authority + 3), base.size());
  if (reference.front() == '/') return std::string(base.substr(0, host_end)).append(reference);
  const std::size_t slash = base.rfind('/');
  if (slash == base.npos || slash < host_end) {
    return std::string(base).append(host_end ? "/" : "").append(reference);
  }
  return std::string(base.substr(0, slash + 1)).append(reference);
}

// Escapes "/" and "~" in a step of a JSON Pointer.
std::string Escaped(std::string_view step) {
  return ReplaceAll(ReplaceAll(step, "~", "~0"), "/", "~1");
}

bool IsNumberFrom(const Json& value, double least) {
  return value.is_number() && value.to_number<double>() >= least;
}

bool IsCount(const Json& value) {
  if (!IsNumberFrom(value, 0)) return false;
  return !value.is_double() || std::floor(value.get_double()) == value.get_double();
}

bool AreStrings(const Json& value) {
  return value.is_array() && std::ranges::all_of(value.get_array(), &Json::is_string);
}

bool IsTypeName(const Json& value) {
  constexpr std::string_view kTypes[] = {"null",   "boolean", "object", "array",
                                         "number", "integer", "string"};
  return value.is_string() && std::ranges::find(kTypes, std::string_view(value.get_string())) !=
                                  std::ranges::end(kTypes);
}

// Returns "" if `value` is allowed, else what it has to be.
std::string_view WrongShape(SchemaShape shape, const Json& value) {
  const auto unless = [](bool right, std::string_view wanted) {
    return right ? std::string_view() : wanted;
  };
  const auto is_schema = [](const Json& json) { return json.is_object() || json.is_bool(); };
  const auto all_members = [&](auto test) {
    return value.is_object() &&
           std::ranges::all_of(value.get_object(), [&](const auto& m) { return test(m.value()); });
  };
  switch (shape) {
    case SchemaShape::kAny:
    case SchemaShape::kIgnored:
      return {};
    case SchemaShape::kList:
      return unless(value.is_array(), "a list");
    case SchemaShape::kNumber:
      return unless(value.is_number(), "a number");
    case SchemaShape::kPositive:
      return unless(value.is_number() && value.to_number<double>() > 0, "a number above 0");
    case SchemaShape::kCount:
      return unless(IsCount(value), "a whole number from 0");
    case SchemaShape::kBoolean:
      return unless(value.is_bool(), "true or false");
    case SchemaShape::kString:
    case SchemaShape::kPattern:
    case SchemaShape::kReference:
      return unless(value.is_string(), "a string");
    case SchemaShape::kTypes:
      return unless(IsTypeName(value) || (value.is_array() && !value.get_array().empty() &&
                                          std::ranges::all_of(value.get_array(), IsTypeName)),
                    "null, boolean, object, array, number, integer or string, or a list of these");
    case SchemaShape::kNames:
      return unless(AreStrings(value), "a list of strings");
    case SchemaShape::kNamesMap:
      return unless(all_members(AreStrings), "a map of lists of strings");
    case SchemaShape::kSchema:
      return unless(is_schema(value), "a schema");
    case SchemaShape::kSchemaOrList:
      return unless(is_schema(value) ||
                        (value.is_array() && std::ranges::all_of(value.get_array(), is_schema)),
                    "a schema or a list of schemas");
    case SchemaShape::kSchemaList:
      return unless(value.is_array() && !value.get_array().empty() &&
                        std::ranges::all_of(value.get_array(), is_schema),
                    "a list of at least one schema");
    case SchemaShape::kSchemaMap:
    case SchemaShape::kPatternMap:
      return unless(all_members(is_schema), "a map of schemas");
    case SchemaShape::kSchemaOrNamesMap:
      return unless(all_members([&](const Json& m) { return is_schema(m) || AreStrings(m); }),
                    "a map of schemas or of lists of strings");
  }
  return {};
}

class Compiler {
 public:
  explicit Compiler(CompiledSchema* out) : out_(out) {}

  Status Run() {
    Enqueue(out_->json, "", "");
    DOSSIER_RETURN_IF_ERROR(Walk());
    // A reference may lead to a place that no keyword led to: it is compiled too, and may refer on.
    for (std::size_t done = 0; done < references_.size(); ++done) {
      const Reference reference = references_[done];
      DOSSIER_ASSIGN_OR_RETURN(const Json* target, Find(reference));
      out_->references.emplace(reference.word, target);
      if (!seen_.contains(target)) {
        Enqueue(*target, reference.base, "");
        DOSSIER_RETURN_IF_ERROR(Walk());
      }
    }
    return {};
  }

 private:
  struct Place {
    const Json* schema;
    std::string base;     // URI of the resource it belongs to
    std::string pointer;  // for messages
  };
  struct Reference {
    const Json* word;
    std::string base, pointer;
  };

  void Enqueue(const Json& schema, std::string base, std::string pointer) {
    if (seen_.insert(&schema).second) {
      waiting_.push_back({&schema, std::move(base), std::move(pointer)});
    }
  }

  Status Walk() {
    while (!waiting_.empty()) {
      Place place = std::move(waiting_.front());
      waiting_.pop_front();
      if (seen_.size() > kMostSchemas) {
        return MakeError(ErrorCode::kConfig, "schema: more than {} parts", kMostSchemas);
      }
      if (place.schema->is_bool()) continue;
      if (!place.schema->is_object()) {
        return MakeError(ErrorCode::kConfig, "schema, at {}: has to be a map, true or false",
                         place.pointer.empty() ? "its root" : place.pointer);
      }
      DOSSIER_RETURN_IF_ERROR(Visit(place));
    }
    return {};
  }

  void Name(const JsonObject& schema, Place* place) {
    const bool alone = out_->draft == Draft::k7 && schema.contains("$ref");  // siblings are ignored
    if (const auto id = FindString(*place->schema, "$id"); id && !alone) {
      const std::size_t hash = id->find('#');
      if (hash != 0) place->base = ResolveUri(place->base, id->substr(0, hash));
      if (hash != id->npos && hash + 1 < id->size()) {
        named_.emplace(place->base + std::string(id->substr(hash)), place->schema);
      }
      if (hash != 0) named_.emplace(place->base, place->schema);
    }
    for (const char* key : {"$anchor", "$dynamicAnchor"}) {
      if (const auto anchor = FindString(*place->schema, key)) {
        named_.emplace(fmt::format("{}#{}", place->base, *anchor), place->schema);
      }
    }
    if (place->pointer.empty() && place->schema == &out_->json) {
      named_.emplace("", place->schema);
      named_.emplace(place->base, place->schema);
    }
  }

  Status Visit(Place place) {
    const JsonObject& schema = place.schema->get_object();
    Name(schema, &place);
    const bool alone = out_->draft == Draft::k7 && schema.contains("$ref");
    for (const auto& member : schema) {
      const SchemaKeyword* keyword = FindKeyword(member.key(), out_->draft);
      const std::string pointer = fmt::format("{}/{}", place.pointer, Escaped(member.key()));
      if (!keyword) {
        if (!SaysNothing(member.key())) {
          Warn(fmt::format("schema, at {}: this is no keyword, and nothing is checked", pointer));
        }
        continue;
      }
      if (alone && keyword->shape != SchemaShape::kReference && member.key() != "definitions") {
        continue;
      }
      if (const std::string_view wanted = WrongShape(keyword->shape, member.value());
          !wanted.empty()) {
        return MakeError(ErrorCode::kConfig, "schema, at {}: has to be {}", pointer, wanted);
      }
      DOSSIER_RETURN_IF_ERROR(Descend(*keyword, member.value(), place.base, pointer));
    }
    return {};
  }

  Status Descend(const SchemaKeyword& keyword, const Json& word, const std::string& base,
                 const std::string& pointer) {
    switch (keyword.shape) {
      case SchemaShape::kReference:
        references_.push_back({&word, base, pointer});
        break;
      case SchemaShape::kPattern:
        return AddPattern(word.get_string(), pointer);
      case SchemaShape::kIgnored:
        Warn(fmt::format("schema, at {}: `{}` is not applied", pointer, keyword.name));
        break;
      case SchemaShape::kSchema:
        Enqueue(word, base, pointer);
        break;
      case SchemaShape::kSchemaList:
      case SchemaShape::kSchemaOrList:
        if (!word.is_array()) {
          Enqueue(word, base, pointer);
          break;
        }
        for (std::size_t i = 0; i < word.get_array().size(); ++i) {
          Enqueue(word.get_array()[i], base, fmt::format("{}/{}", pointer, i));
        }
        break;
      case SchemaShape::kSchemaMap:
      case SchemaShape::kPatternMap:
      case SchemaShape::kSchemaOrNamesMap:
        for (const auto& member : word.get_object()) {
          const std::string below = fmt::format("{}/{}", pointer, Escaped(member.key()));
          if (keyword.shape == SchemaShape::kPatternMap) {
            DOSSIER_RETURN_IF_ERROR(AddPattern(member.key(), below));
          }
          if (!member.value().is_array()) Enqueue(member.value(), base, below);
        }
        break;
      default:
        break;
    }
    return {};
  }

  Status AddPattern(std::string_view pattern, std::string_view pointer) {
    if (out_->patterns.contains(pattern)) return {};
    auto compiled = SchemaPattern::Compile(pattern);
    if (!compiled) {
      return MakeError(ErrorCode::kConfig, "schema, at {}: {}", pointer, compiled.error().message);
    }
    out_->patterns.emplace(pattern, *std::move(compiled));
    return {};
  }

  Result<const Json*> Find(const Reference& reference) const {
    const std::string_view text = reference.word->get_string();
    const std::size_t hash = text.find('#');
    const std::string resource = ResolveUri(reference.base, text.substr(0, hash));
    const std::string fragment =
        hash == text.npos ? std::string() : PercentDecoded(text.substr(hash + 1));
    const auto root = named_.find(resource);
    if (root == named_.end()) {
      return MakeError(
          ErrorCode::kConfig,
          "schema, at {}: `{}` leads out of the document; put that schema under `$defs`",
          reference.pointer, text);
    }
    if (fragment.empty()) return root->second;
    if (fragment.front() != '/') {
      const auto anchor = named_.find(fmt::format("{}#{}", resource, fragment));
      if (anchor != named_.end()) return anchor->second;
    } else {
      boost::json::error_code error;
      if (const Json* target = root->second->find_pointer(fragment, error)) return target;
    }
    return MakeError(ErrorCode::kConfig, "schema, at {}: there is no `{}` in it", reference.pointer,
                     text);
  }

  void Warn(std::string text) {
    if (out_->warnings.size() < 20) out_->warnings.push_back(std::move(text));
  }

  CompiledSchema* out_;
  std::unordered_set<const Json*> seen_;
  std::deque<Place> waiting_;
  std::vector<Reference> references_;
  std::map<std::string, const Json*, std::less<>> named_;  // URI, or URI#anchor -> schema
};

// Draft 6 has a subset of the keywords of 7; 2019-09 is close to 2020-12.
Draft DraftOf(const Json& json, std::vector<std::string>* warnings) {
  const std::string_view uri = FindString(json, "$schema").value_or("2020-12");
  if (uri.find("2020-12") != uri.npos) return Draft::k2020;
  if (uri.find("draft-07") != uri.npos) return Draft::k7;
  const bool old = uri.find("draft-0") != uri.npos;
  warnings->push_back(
      fmt::format("schema: `$schema` {} is read as {}", uri, old ? "draft 7" : "2020-12"));
  return old ? Draft::k7 : Draft::k2020;
}

}  // namespace

Result<std::shared_ptr<const SchemaPattern>> SchemaPattern::Compile(std::string_view pattern) {
  // ECMA-262: `$` matches only the very end, \d and \w are ASCII.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
                                     PCRE2_NEVER_BACKSLASH_C | PCRE2_ALT_BSUX;
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   kOptions, &error, &offset, nullptr);
  if (!code) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    return MakeError(ErrorCode::kConfig, "no regular expression: {} at offset {}",
                     reinterpret_cast<const char*>(words.data()), offset);
  }
  return std::make_shared<CompiledPattern>(code);
}

Result<std::shared_ptr<const CompiledSchema>> CompileSchema(Json schema) {
  auto compiled = std::make_shared<CompiledSchema>();
  compiled->json = std::move(schema);
  compiled->draft = DraftOf(compiled->json, &compiled->warnings);
  DOSSIER_RETURN_IF_ERROR(Compiler(compiled.get()).Run());
  return compiled;
}

}  // namespace dossier::model
