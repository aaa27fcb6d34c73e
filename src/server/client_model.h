// Checks which model a client of a server may name: one of the model data or the configuration,
// never a program or address of whoever runs the server.
//
//   DOSSIER_RETURN_IF_ERROR(CheckClientModel(options.model, *config, "command/claude"));
//
// Thread-safety: pure, except that the files of the model data are read.

#ifndef DOSSIER_SERVER_CLIENT_MODEL_H_
#define DOSSIER_SERVER_CLIENT_MODEL_H_

#include <string>

#include "app/open_model.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::server {

// `start`: the settings that the server started with. Errors: kRefused, with a remedy, for a
// program of this machine (command/…) or an address, unless the start or the configuration names
// exactly that model, and for a name that a command line would take for a flag.
Status CheckClientModel(const app::ModelSettings& start, const config::Config& config,
                        const std::string& name);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_CLIENT_MODEL_H_
