// What is said about a reply or a block beside its result: a name for programs, a sentence for
// people and models.
//
//   Notice{"unknown_operation", "unknown operation \"archive\"; did you mean \"archival_write\"?"}

#ifndef DOSSIER_MEMORY_CONSOLIDATE_NOTICE_H_
#define DOSSIER_MEMORY_CONSOLIDATE_NOTICE_H_

#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::memory {

struct Notice {
  std::string name;
  std::string text;
};

// [{"name": …, "text": …}]
JsonArray NoticesJson(const std::vector<Notice>& notices);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_NOTICE_H_
