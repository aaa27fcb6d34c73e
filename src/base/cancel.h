// Asking running work to stop, as the whole program does: see the public header.

#ifndef DOSSIER_BASE_CANCEL_H_
#define DOSSIER_BASE_CANCEL_H_

#include <dossier/cancel.h>

#endif  // DOSSIER_BASE_CANCEL_H_
