// Asking running work to stop, as the whole program does: see the public header.

#ifndef DOSSIER_BASE_CANCEL_H_
#define DOSSIER_BASE_CANCEL_H_

#include <dossier/cancel.h>

#include "base/clock.h"

namespace dossier {

// Waits until `time` is over; false if `cancel` came first.
bool WaitUnlessCancelled(Millis time, const CancelToken& cancel);

}  // namespace dossier

#endif  // DOSSIER_BASE_CANCEL_H_
