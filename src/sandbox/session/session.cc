#include "sandbox/session/session.h"

#include <unistd.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sandbox/session/host_session.h"

namespace dossier::sandbox {
namespace {

// Reads a byte offset or length; anything but a non-negative integer is refused.
std::optional<std::uint64_t> AsSize(const Json* value) {
  if (!value) return std::nullopt;
  if (value->is_uint64()) return value->get_uint64();
  if (!value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

Result<std::string_view> Slice(std::string_view text, std::optional<std::uint64_t> at,
                               std::optional<std::uint64_t> length, std::string_view what) {
  if (!at || !length) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a piece of {} needs an offset and a length that are not negative", what);
  }
  if (*at > text.size() || *length > text.size() - *at) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a piece of {} from byte {} with {} bytes, but it has {} bytes", what, *at,
                     *length, text.size());
  }
  return text.substr(*at, *length);
}

Result<std::string_view> BlobPiece(const JsonObject& object, std::string_view raw) {
  const JsonArray* pair = object.at("blob").if_array();
  if (!pair || pair->size() != 2 || object.size() != 1) {
    return MakeError(ErrorCode::kInvalidArgument, "a blob is {{\"blob\":[offset,length]}}");
  }
  return Slice(raw, AsSize(&pair->at(0)), AsSize(&pair->at(1)), "the message");
}

Result<std::string_view> ContextPiece(const JsonObject& object,
                                      const std::vector<std::string_view>& contexts) {
  const std::optional<std::uint64_t> index = AsSize(Find(object, "ctx"));
  if (!index || *index >= contexts.size() || object.size() != 3) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a slice is {{\"ctx\":index,\"at\":byte,\"len\":bytes}} of one of {} contexts",
                     contexts.size());
  }
  return Slice(contexts[*index], AsSize(Find(object, "at")), AsSize(Find(object, "len")),
               "the context");
}

Result<std::string_view> Piece(const Json& part, std::string_view raw,
                               const std::vector<std::string_view>& contexts) {
  if (part.is_string()) return std::string_view(part.get_string());
  if (const JsonObject* object = part.if_object()) {
    if (object->contains("blob")) return BlobPiece(*object, raw);
    if (object->contains("ctx")) return ContextPiece(*object, contexts);
  }
  return MakeError(ErrorCode::kInvalidArgument, "a part of a text is a string, a blob or a slice");
}

}  // namespace

std::string_view DialectName(Dialect dialect) {
  return dialect == Dialect::kPython ? "python" : "javascript";
}

Result<Dialect> ParseDialect(std::string_view name) {
  for (const Dialect dialect : {Dialect::kPython, Dialect::kJavaScript}) {
    if (name == DialectName(dialect)) return dialect;
  }
  return MakeError(ErrorCode::kUsage, "--dialect {}: python and javascript are known", name);
}

std::string_view BlockStatusName(BlockStatus status) {
  switch (status) {
    case BlockStatus::kOk:
      return "ok";
    case BlockStatus::kError:
      return "error";
    case BlockStatus::kInterrupted:
      return "interrupted";
    case BlockStatus::kLimit:
      return "limit";
    case BlockStatus::kFinal:
      return "final";
    case BlockStatus::kDied:
      return "died";
    case BlockStatus::kNotRun:
      return "not_run";
  }
  return "error";
}

Result<std::string> ResolveText(const Json& parts, std::string_view raw,
                                const std::vector<std::string_view>& contexts) {
  const JsonArray one{parts};
  const JsonArray* list = parts.is_array() ? &parts.get_array() : &one;
  std::vector<std::string_view> pieces;
  std::uint64_t total = 0;
  for (const Json& part : *list) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string_view piece, Piece(part, raw, contexts));
    pieces.push_back(piece);
    total += piece.size();
    // Many slices of one context may add up to far more than was ever sent.
    if (total > (1ull << 30)) {
      return MakeError(ErrorCode::kInvalidArgument, "a text of more than {} bytes", 1ull << 30);
    }
  }
  std::string text;
  text.reserve(total);
  for (const std::string_view piece : pieces) text.append(piece);
  if (!utf8::IsValid(text)) {
    return MakeError(ErrorCode::kInvalidArgument, "a text that is not valid UTF-8");
  }
  return text;
}

// The pool behind session.h: one zygote for all sessions.

namespace {

class HostPool final : public Pool {
 public:
  HostPool(Dialect dialect, std::shared_ptr<ZygoteSource> zygotes)
      : dialect_(dialect), zygotes_(std::move(zygotes)) {}

  void Prepare() override { zygotes_->Prepare(); }

  Result<std::unique_ptr<Session>> Open(SessionSpec spec, const CancelToken& cancel) override {
    spec.dialect = dialect_;
    return HostSession::Open(zygotes_, std::move(spec), cancel);
  }

  Result<std::unique_ptr<Opening>> Begin(SessionSpec spec, const CancelToken& cancel) override {
    spec.dialect = dialect_;
    return HostSession::Begin(zygotes_, std::move(spec), cancel);
  }

 private:
  const Dialect dialect_;
  std::shared_ptr<ZygoteSource> zygotes_;
};

// Beside the program of this installation, or in its libexec folder; never through PATH.
Result<std::string> FindWorker(const PoolOptions& options) {
  const std::string& given = options.worker_path;
  if (!given.empty()) {
    if (Exists(given)) return given;
    return MakeError(ErrorCode::kUnavailable, "the sandbox worker {} is not there", given);
  }
  const std::string name = fmt::format("dossier-{}-worker", DialectName(options.dialect));
  if (auto beside = FindInstalled(name)) return std::move(*beside);
  if (auto installed = FindInstalled(fmt::format("../libexec/dossier/{}", name))) {
    return std::move(*installed);
  }
  std::vector<std::string> places;
  for (const std::string& folder : InstalledProgramFolders()) {
    places.push_back(fmt::format("{}/{}", folder, name));
    places.push_back(fmt::format("{}/../libexec/dossier/{}", folder, name));
  }
  if (options.dialect == Dialect::kJavaScript) {
    return MakeError(ErrorCode::kUnavailable,
                     "this build has no JavaScript worker: it is at none of {}; build it where "
                     "libmozjs-102-dev is installed (scripts/setup --javascript), or leave "
                     "--dialect out for Python",
                     Join(places, ", "));
  }
  return MakeError(ErrorCode::kUnavailable, "the sandbox worker is missing: it is at none of {}",
                   Join(places, ", "));
}

}  // namespace

Result<std::string> WorkerBuild(const PoolOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FindWorker(options));
  return BuildIdOf(path);
}

Result<std::unique_ptr<Pool>> Pool::Make(PoolOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(std::string path, FindWorker(options));
  IsolationOptions isolation;
  isolation.mode = options.mode;
  for (const std::string& folder : options.read_folders) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(folder, error) / "";
    if (error) return MakeErrnoError(error.value(), folder);
    isolation.read_folders.push_back(whole.lexically_normal().parent_path());
  }
  isolation.disabled_layers = std::move(options.disabled_layers);
  auto zygotes = std::make_shared<ZygoteSource>(std::move(path), std::move(isolation));
  return std::make_unique<HostPool>(options.dialect, std::move(zygotes));
}

}  // namespace dossier::sandbox
