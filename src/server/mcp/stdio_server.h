// The Model Context Protocol over two descriptors: one message a line, both ways.
//
//   DOSSIER_RETURN_IF_ERROR(ServeStdio(catalog, {.in = 0, .out = 1}, cancel));
//
// Returns when the input ends or `cancel` is asked for; what runs then is cancelled first. Nothing
// but messages is written to `out`; the caller keeps others from it. A line above the limit is
// refused and passed over.
// Errors: kIo where reading or writing fails. Thread-safety: one call a pair of descriptors.

#ifndef DOSSIER_SERVER_MCP_STDIO_SERVER_H_
#define DOSSIER_SERVER_MCP_STDIO_SERVER_H_

#include <cstddef>

#include "base/cancel.h"
#include "base/result.h"
#include "server/mcp/catalog.h"
#include "server/mcp/connection.h"

namespace dossier::mcp {

struct StdioOptions {
  int in = 0, out = 1;                // stay the caller's
  std::size_t most_line = 64u << 20;  // bytes
  ServerInfo info;
};

Status ServeStdio(ServerOffer& catalog, const StdioOptions& options, const CancelToken& cancel);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_STDIO_SERVER_H_
