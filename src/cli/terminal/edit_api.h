// libedit by dlopen: only an interactive chat pays for it.
//
// Thread-safety: loaded once; libedit itself is used by one thread.

#ifndef DOSSIER_CLI_TERMINAL_EDIT_API_H_
#define DOSSIER_CLI_TERMINAL_EDIT_API_H_

#include <histedit.h>

#include "base/result.h"

namespace dossier::cli {

struct EditApi {
  decltype(&::el_init) init;
  decltype(&::el_end) end;
  decltype(&::el_gets) gets;
  decltype(&::el_wgetc) wgetc;
  decltype(&::el_set) set;
  decltype(&::el_get) get;
  decltype(&::el_line) line;
  decltype(&::el_insertstr) insertstr;
  decltype(&::el_deletestr) deletestr;
  decltype(&::el_cursor) cursor;
  decltype(&::el_resize) resize;
  decltype(&::el_source) source;
  decltype(&::history_init) history_init;
  decltype(&::history_end) history_end;
  decltype(&::history) history;
};

// Errors: kUnavailable, naming the Debian package.
Result<const EditApi*> LoadEdit();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_EDIT_API_H_
