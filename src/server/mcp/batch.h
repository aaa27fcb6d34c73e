// Passes the messages of one text to a connection, and combines the answers of a batch into one.
//
//   Deliver(text, connection, outlet);   // returns at once
//
// Only revision 2025-03-26 allows a batch; otherwise it is refused. Thread-safety: as
// ClientConnection::Handle.

#ifndef DOSSIER_SERVER_MCP_BATCH_H_
#define DOSSIER_SERVER_MCP_BATCH_H_

#include <memory>

#include "server/mcp/connection.h"
#include "server/mcp/message.h"

namespace dossier::mcp {

void Deliver(RpcMessages messages, ClientConnection& connection,
             const std::shared_ptr<Outlet>& outlet);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_BATCH_H_
