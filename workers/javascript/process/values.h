// Values that cross between JavaScript and JSON.
//
//   Result<Json> json = ToJsonValue(cx, value);        // kInvalidArgument with the path
//   JS::RootedValue back(cx);
//   if (!FromJsonValue(cx, *json, raw, &back)) …;      // an exception is pending
//
// Only own data properties count: what code did to a prototype, a toJSON or a getter changes
// nothing here. All functions need the context's realm to be entered.

#ifndef DOSSIER_WORKERS_JAVASCRIPT_VALUES_H_
#define DOSSIER_WORKERS_JAVASCRIPT_VALUES_H_

#include <jsapi.h>

#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::worker {

// UTF-8; a lone surrogate becomes U+FFFD. Empty, with an exception pending, without memory.
std::string TextOf(JSContext* cx, JS::HandleString text);
// Of one byte a character where the text allows it. Null, with an exception pending, above the
// engine's longest string or without memory.
JSString* MakeString(JSContext* cx, std::string_view utf8);

// Strings, finite numbers, whole ones exact, BigInt of 64 bits, booleans, null, arrays and objects
// of own data properties; depth at most 60. Errors: kInvalidArgument naming path and type,
// "value.items[3]: a function cannot cross to the host".
Result<Json> ToJsonValue(JSContext* cx, JS::HandleValue value, std::string_view path = "value");

// {"blob":[offset,length]} becomes that text of `raw`. False: an exception is pending.
bool FromJsonValue(JSContext* cx, const Json& json, std::string_view raw,
                   JS::MutableHandleValue out);

// A property of an object of our own: no getter runs. Undefined if it is not there.
bool GetOwn(JSContext* cx, JS::HandleObject object, const char* name, JS::MutableHandleValue out);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_JAVASCRIPT_VALUES_H_
