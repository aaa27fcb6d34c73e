// rpc: offers the engine to programs in other languages, over lines of JSON.

#include <fcntl.h>
#include <unistd.h>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "server/rpc/rpc_server.h"

namespace dossier::cli {
namespace {

struct RpcArguments {
  std::string descriptors = "0,1";
};

Result<server::RpcOptions> ReadDescriptors(const std::string& text) {
  const auto parts = Split(text, ',');
  server::RpcOptions options{.version = kVersion};
  if (parts.size() == 2) {
    const auto in = ParseWhole(parts[0]), out = ParseWhole(parts[1]);
    if (in && out && *in >= 0 && *out >= 0 && fcntl(static_cast<int>(*in), F_GETFD) >= 0 &&
        fcntl(static_cast<int>(*out), F_GETFD) >= 0) {
      options.in = static_cast<int>(*in);
      options.out = static_cast<int>(*out);
      return options;
    }
  }
  return MakeError(ErrorCode::kUsage,
                   "--fds {}: give two open descriptors, the one to read from and the one to write "
                   "to, such as 0,1",
                   text);
}

Result<int> RunRpc(const RpcArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(server::RpcOptions options, ReadDescriptors(given.descriptors));
  server::WorkspaceOptions workspace_options;
  // The caller is the user, so what this user may read may be opened.
  workspace_options.secrets = server::WorkspaceOptions::Secrets::kAllowed;
  DOSSIER_ASSIGN_OR_RETURN(const auto workspace,
                           server::Workspace::Open(std::move(workspace_options)));
  const Status served = server::RpcServer(*workspace, std::move(options)).Serve(context.cancel);
  if (served || served.error().code == ErrorCode::kCancelled) return 0;
  return tl::unexpected(served.error());
}

void DeclareRpc(Flags& flags, RpcArguments& to) {
  flags.Add("--fds", &to.descriptors, "descriptors to read from and to write to")
      .Kind(kList)
      .ShowDefault();
}

}  // namespace

Command RpcCommand() {
  return {.name = "rpc",
          .summary = "answer a program of another language: JSON lines on stdin and stdout",
          .examples =
              "dossier rpc\n"
              "    what `import dossier_context` starts; docs/formats/rpc.md has the messages",
          .binding = Bind(DeclareRpc, RunRpc)};
}

}  // namespace dossier::cli
