// Checks which model a client of a server may name: one of the model data or the configuration,
// never a program or address of whoever runs the server.
//
//   DOSSIER_RETURN_IF_ERROR(CheckClientModel(options.model, *config, "command/claude"));
//
// Thread-safety: pure, but for the files of the model data, which are read.

#ifndef DOSSIER_SERVER_CLIENT_MODEL_H_
#define DOSSIER_SERVER_CLIENT_MODEL_H_

#include <string>

#include "app/open_model.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::server {

// `start`: the settings that the server began with. Errors: kRefused, naming the way out, for a
// program of this machine (command/…) and an address, unless the start or the configuration names
// that very model; and for what a command line would take for a flag.
Status CheckClientModel(const app::ModelSettings& start, const config::Config& config,
                        const std::string& name);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_CLIENT_MODEL_H_
