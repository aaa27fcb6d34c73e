// The filters of command templates, with the results that Jinja's have.
//
//   ApplyFilter("join", list, {TemplateValue(", ")});
//
// `default` is no function of values, because it takes what is undefined: the renderer has it.
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_FILTERS_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_FILTERS_H_

#include <span>
#include <string>
#include <string_view>

#include "sources/template/template_value.h"

namespace dossier::sources {

// Whether there is such a filter that takes so many arguments. Errors: kConfig with the known
// names.
Status CheckFilter(std::string_view name, std::size_t arguments);

// `name` must have passed CheckFilter. Errors: kConfig (a value of the wrong kind).
Result<TemplateValue> ApplyFilter(std::string_view name, const TemplateValue& value,
                                  std::span<const TemplateValue> arguments);

// What a loop goes through: the items of a list, the keys of a map, the code points of a text.
// Errors: kConfig for values that have no items.
Result<TemplateValue::List> Items(const TemplateValue& value);

// The origin that a text made of `value` has: none if nothing of it could be misread.
std::string OriginIfUnsafe(const TemplateValue& value);
// Whether `text` holds a character that means something to a shell, or a control character.
bool HoldsShellCharacters(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_FILTERS_H_
