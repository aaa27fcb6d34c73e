#include "model/client.h"

namespace dossier::model {

std::string_view PurposeName(Purpose purpose) {
  switch (purpose) {
    case Purpose::kRoot: return "root";
    case Purpose::kDirect: return "direct";
    case Purpose::kSubcall: return "subcall";
    case Purpose::kMap: return "map";
    case Purpose::kExtract: return "extract";
    case Purpose::kRepair: return "repair";
    case Purpose::kCompact: return "compact";
    case Purpose::kTest: return "test";
  }
  return "unknown";
}

std::string_view FinishName(Finish finish) {
  switch (finish) {
    case Finish::kStop: return "stop";
    case Finish::kLength: return "length";
    case Finish::kToolCalls: return "tool_calls";
    case Finish::kFilter: return "filter";
    case Finish::kCut: return "cut";
    case Finish::kOther: return "other";
  }
  return "unknown";
}

}  // namespace dossier::model
