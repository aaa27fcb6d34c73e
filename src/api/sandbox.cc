#include <dossier/sandbox.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "api/access.h"
#include "app/documents_handler.h"
#include "base/files/file.h"
#include "base/result.h"
#include "base/text/utf8.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

namespace dossier {
namespace {

using sandbox::BlockStatus;

// Returns an immutable file with `text`, which the worker can map.
Result<UniqueFd> SealedFile(std::string_view text) {
  UniqueFd fd(memfd_create("dossier-text", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return MakeErrnoError(errno, "memfd_create");
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), text));
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return MakeErrnoError(errno, "seal");
  return fd;
}

CodeResult::Status CodeStatusOf(BlockStatus status) {
  switch (status) {
    case BlockStatus::kOk:
    case BlockStatus::kFinal:
      return CodeResult::Status::kOk;
    case BlockStatus::kError:
    case BlockStatus::kNotRun:
      return CodeResult::Status::kError;
    case BlockStatus::kInterrupted:
      return CodeResult::Status::kInterrupted;
    case BlockStatus::kLimit:
      return CodeResult::Status::kLimit;
    case BlockStatus::kDied:
      return CodeResult::Status::kDied;
  }
  return CodeResult::Status::kError;
}

CodeResult ResultOf(sandbox::BlockResult block) {
  CodeResult out{.status = CodeStatusOf(block.status),
                 .output = std::move(block.out),
                 .notes = std::move(block.notes),
                 .cpu = block.cpu,
                 .wall = block.wall};
  // A silent or endless block is interrupted by its limit, not by the caller.
  if (block.status == BlockStatus::kInterrupted && !block.stopped.empty()) {
    out.status = CodeResult::Status::kLimit;
  }
  if (block.error) {
    out.error =
        fmt::format("{}: {} (line {})", block.error->type, block.error->message, block.error->line);
  } else if (!block.refused.empty()) {
    out.error = std::move(block.refused);
  }
  return out;
}

tl::unexpected<Error> MovedFromSandbox() {
  return MakeError(ErrorCode::kInvalidArgument, "this sandbox was moved from: it has no session");
}

}  // namespace

Result<SandboxPool> SandboxPool::Make(const SandboxOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(auto pool, sandbox::Pool::Make(PoolOptionsOf(options)));
  return SandboxPoolAccess::Over(std::move(pool));
}

struct Sandbox::Impl {
  std::vector<SandboxText> texts;
  std::unique_ptr<app::DocumentsHandler> handler;  // over the texts
  std::unique_ptr<sandbox::Pool> pool;
  std::vector<UniqueFd> files;  // of the texts
  std::unique_ptr<sandbox::Session> session;
};

Sandbox::Sandbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sandbox::Sandbox(Sandbox&& other) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&& other) noexcept = default;
Sandbox::~Sandbox() = default;

Result<Sandbox> Sandbox::Open(SandboxOptions options) {
  auto impl = std::make_unique<Impl>();
  sandbox::SessionSpec spec{.seed = options.seed, .limits = LimitsOf(options)};
  std::ranges::sort(options.texts, {}, &SandboxText::name);
  impl->texts = options.texts;
  std::vector<ask::TextDocument> documents;
  for (const SandboxText& text : impl->texts) {
    if (!utf8::IsValid(text.text)) {
      return MakeError(ErrorCode::kInvalidArgument, "the text {} is not UTF-8", text.name);
    }
    DOSSIER_ASSIGN_OR_RETURN(UniqueFd fd, SealedFile(text.text));
    const inspect::Description about = inspect::DescribeText(text.text, text.name, {});
    spec.contexts.push_back({.name = text.name,
                             .fd = fd.get(),
                             .bytes = text.text.size(),
                             .characters = about.counts.chars,
                             .meta = inspect::ContextMeta(about, inspect::Runtime::kPython)});
    impl->files.push_back(std::move(fd));
    documents.push_back({text.name, text.text, about});
  }
  impl->handler = std::make_unique<app::DocumentsHandler>(std::move(documents));
  DOSSIER_ASSIGN_OR_RETURN(impl->pool, sandbox::Pool::Make(PoolOptionsOf(options)));
  DOSSIER_ASSIGN_OR_RETURN(impl->session, impl->pool->Open(std::move(spec), options.cancel));
  return Sandbox(std::move(impl));
}

Result<CodeResult> Sandbox::Run(std::string_view code, const CancelToken& cancel) {
  if (!impl_) return MovedFromSandbox();
  DOSSIER_ASSIGN_OR_RETURN(sandbox::BlockResult block,
                           impl_->session->Run(code, {.cancel = cancel}, *impl_->handler));
  return ResultOf(std::move(block));
}

Result<std::string> Sandbox::Get(std::string_view name, std::uint64_t max_bytes) {
  if (!impl_) return MovedFromSandbox();
  return impl_->session->Get(name, max_bytes);
}

Status Sandbox::Reset(const std::vector<std::string>& keep) {
  if (!impl_) return MovedFromSandbox();
  return impl_->session->Reset(keep);
}

void Sandbox::Interrupt() {
  if (impl_) impl_->session->Interrupt(sandbox::InterruptReason::kUser);
}

Result<std::string> Sandbox::Report() const {
  if (!impl_) return MovedFromSandbox();
  return ToJson(impl_->session->report().ToJson());
}

}  // namespace dossier
