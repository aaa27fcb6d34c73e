#include "memory/consolidate/notice.h"

namespace dossier::memory {

JsonArray NoticesJson(const std::vector<Notice>& notices) {
  JsonArray list;
  for (const Notice& notice : notices) {
    list.push_back(JsonObject{{"name", notice.name}, {"text", notice.text}});
  }
  return list;
}

}  // namespace dossier::memory
