// Settings of clients, in both forms: an entry that was written is found, and the text without it
// is the one of before where nothing stood there.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/clients/settings_edit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using dossier::clients::SettingsForm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const dossier::clients::Path path = {"servers", "dossier"};
  const dossier::Json entry = dossier::JsonObject{{"command", "dossier"}};
  for (const SettingsForm form : {SettingsForm::kJson, SettingsForm::kToml}) {
    const auto set = dossier::clients::SetEntry(text, form, path, entry, "f");
    if (!set) continue;
    const auto found = dossier::clients::FindEntry(*set, form, path, "f");
    if (!found || !*found || dossier::TextAt(**found, "command") != "dossier") std::abort();
    if (!dossier::clients::RemoveEntry(*set, form, path, "f")) std::abort();
  }
  return 0;
}
