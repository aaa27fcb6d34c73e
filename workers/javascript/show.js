// Values as text, for print and for the list of variables: JSON-like, bounded, without running any
// code of the value itself.

const MOST_ITEMS = 100, MOST_DEPTH = 6, MOST_NODES = 20_000, LINE = 100;
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u;
// Objects of ours that code sees, and what makes the text of each.
const shownBy = new WeakMap(), shownGet = uncurry(WeakMap.prototype.get), shownSet = uncurry(WeakMap.prototype.set);

const classOf = (object) => {
  for (let up = object, steps = 0; up !== null && steps < 20; up = getPrototypeOf(up), steps++) {
    if (host.isProxy(up)) return "Object";
    const made = own(up, "constructor");
    if (typeof made === "function") {
      const name = getOwnPropertyDescriptor(made, "name")?.value;
      if (typeof name === "string" && name !== "") return name;
    }
  }
  return "";
};
const quoted = (text) => toJson(text);

class Show {
  #seen = [];
  #nodes = 0;

  value(value, depth = 0) {
    this.#nodes++;
    switch (typeof value) {
      case "string": return quoted(value);
      case "bigint": return `${bigText(value)}n`;
      case "symbol": return symbolText(value);
      case "function": return this.#callable(value);
      case "number": return is(value, -0) ? "-0" : TextOf(value);
      case "object": return value === null ? "null" : this.#object(value, depth);
      default: return TextOf(value);
    }
  }

  #callable(value) {
    if (host.isProxy(value)) return "[Proxy]";
    const name = getOwnPropertyDescriptor(value, "name")?.value;
    const kind = startsWith(functionText(value), "class") ? "class" : "function";
    return `[${kind}${typeof name === "string" && name !== "" ? ` ${name}` : ""}]`;
  }

  #object(value, depth) {
    const known = shownGet(shownBy, value);
    if (known !== undefined) return known(this, depth);
    if (host.isProxy(value)) return "[Proxy]";
    for (let i = 0; i < this.#seen.length; i++) if (this.#seen[i] === value) return "[Circular]";
    push(this.#seen, value);
    try {
      return this.#parts(value, depth);
    } finally {
      this.#seen.length--;
    }
  }

  #parts(value, depth) {
    const promise = host.promise(value);
    if (promise !== undefined) {
      return promise[0] === "pending" ? "Promise {<pending>}"
        : `Promise {${promise[0] === "rejected" ? "<rejected> " : ""}${this.value(promise[1], depth + 1)}}`;
    }
    const attempts = [this.#error, this.#map, this.#set, this.#date, this.#regExp, this.#boxed];
    for (let i = 0; i < attempts.length; i++) {
      try {
        const text = apply(attempts[i], this, [value, depth]);
        if (text !== undefined) return text;
      } catch { /* not of that class */ }
    }
    return isArray(value) ? this.#list(value, depth) : this.#fields(value, depth);
  }

  #error(value) {
    return host.errorPlace(value) === undefined ? undefined : `[${describe(value).text}]`;
  }
  #map(value, depth) {
    const parts = [], size = mapSize(value);
    mapEach(value, (item, key) => {
      if (parts.length < MOST_ITEMS) push(parts, `${this.value(key, depth + 1)} => ${this.value(item, depth + 1)}`);
    });
    return `Map(${size}) ${this.#braces("{", parts, size, "}", depth)}`;
  }
  #set(value, depth) {
    const parts = [], size = setSize(value);
    setEach(value, (item) => { if (parts.length < MOST_ITEMS) push(parts, this.value(item, depth + 1)); });
    return `Set(${size}) ${this.#braces("{", parts, size, "}", depth)}`;
  }
  #date(value) { return dateText(value); }
  #regExp(value) { return `/${regExpSource(value)}/${regExpFlags(value)}`; }
  #boxed(value) {
    const inner = own(value, "valueOf") === undefined && boxedValue(value);
    return inner === undefined || inner === false ? undefined : `[${classOf(value)}: ${this.value(inner)}]`;
  }

  #list(value, depth) {
    if (depth >= MOST_DEPTH || this.#nodes > MOST_NODES) return value.length === 0 ? "[]" : "[…]";
    const parts = [], length = value.length;
    for (let i = 0; i < length && parts.length < MOST_ITEMS; i++) {
      const found = getOwnPropertyDescriptor(value, i);
      push(parts, found === undefined ? "<empty>" : "value" in found ? this.value(found.value, depth + 1) : "[Getter]");
    }
    return this.#braces("[", parts, length, "]", depth);
  }

  #fields(value, depth) {
    const typed = ArrayBuffer.isView(value) && !(value instanceof DataView);
    const made = classOf(value), title = made === "Object" || made === "" ? "" : `${made} `;
    if (typed) return `${title}${this.#list(copyOf({ __proto__: null, length: min(value.length, MOST_ITEMS + 1), ...value }), depth)}`;
    const names = ownKeys(value), parts = [];
    if (depth >= MOST_DEPTH || this.#nodes > MOST_NODES) return names.length === 0 ? `${title}{}` : `${title}{…}`;
    let count = 0;
    for (let i = 0; i < names.length; i++) {
      const found = getOwnPropertyDescriptor(value, names[i]);
      if (found === undefined || !found.enumerable) continue;
      if (count++ >= MOST_ITEMS) continue;
      const name = typeof names[i] === "symbol" ? `[${symbolText(names[i])}]` : quoted(names[i]);
      push(parts, `${name}: ${"value" in found ? this.value(found.value, depth + 1) : "[Getter]"}`);
    }
    return `${title}${this.#braces("{", parts, count, "}", depth)}`;
  }

  #braces(open, parts, count, close, depth) {
    if (count > parts.length) push(parts, `… ${group(count - parts.length)} more`);
    const line = `${open}${join(parts, ", ")}${close}`;
    if (line.length <= LINE && indexOf(line, "\n") < 0) return line;
    const indent = repeatText("  ", depth + 1);
    return `${open}\n${indent}${join(parts, `,\n${indent}`)}\n${repeatText("  ", depth)}${close}`;
  }
}

const boxes = [uncurry(Number.prototype.valueOf), uncurry(String.prototype.valueOf),
  uncurry(Boolean.prototype.valueOf), uncurry(BigInt.prototype.valueOf), uncurry(Symbol.prototype.valueOf)];
const boxedValue = (value) => {
  for (let i = 0; i < boxes.length; i++) {
    try { return boxes[i](value); } catch { /* another box */ }
  }
  return undefined;
};

const show = (value) => {
  try {
    return new Show().value(value);
  } catch (error) {
    return `[a value that cannot be shown: ${typeof error === "object" ? "an error" : typeof error}]`;
  }
};
const showOrText = (value) => (typeof value === "string" ? value : show(value));
const cutText = (text, most) => (text.length <= most ? text : `${sliceText(text, 0, most)}…`);

// An error for the model, whatever was thrown: {type, message, text}. Nothing of it is run.
function describe(error) {
  const place = host.errorPlace(error);
  if (place === undefined) {
    const message = error === undefined ? "undefined was thrown" : cutText(showOrText(error), 2000);
    return { __proto__: null, type: "Error", message, text: `Error: ${message}` };
  }
  const named = own(error, "name") ?? classOf(error);
  const type = typeof named === "string" && named !== "" ? named : "Error";
  const said = own(error, "message");
  const message = cutText(typeof said === "string" ? said : place[2], 2000);
  return { __proto__: null, type, message, text: message === "" ? type : `${type}: ${message}` };
}

let printed = false;
const printLine = (values) => {
  const parts = [];
  for (let i = 0; i < values.length; i++) push(parts, showOrText(values[i]));
  printed = true;
  host.write(`${join(parts, " ")}\n`);
};
const formatted = (values) => {
  if (typeof values[0] !== "string" || values.length < 2 || indexOf(values[0], "%") < 0) return values;
  let next = 1;
  const text = replaceText(values[0], /%[sdifjoOc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (next >= values.length) return mark;
    const value = values[next++];
    if (mark === "%c") return "";
    if (mark === "%d" || mark === "%i") return TextOf(mark === "%i" ? Math.trunc(value) : +value);
    return mark === "%f" ? TextOf(+value) : showOrText(value);
  });
  const rest = [text];
  for (let i = next; i < values.length; i++) push(rest, values[i]);
  return rest;
};
const print = function print(...values) { printLine(values); };
const logLine = (...values) => printLine(formatted(values));
const table = (rows) => {
  if (rows === null || typeof rows !== "object") return printLine([rows]);
  const names = isArray(rows) ? undefined : keysOf(rows);
  for (let i = 0; i < (names ?? rows).length; i++) {
    printLine(names ? [`${names[i]}:`, rows[names[i]]] : [`${i}:`, rows[i]]);
  }
};
const console = {
  log: logLine, info: logLine, debug: logLine, warn: logLine, error: logLine, trace: logLine,
  dir: (value) => printLine([value]), table, group: logLine, groupEnd() {}, time() {}, timeEnd() {},
  assert(holds, ...values) { if (!holds) printLine(addAll(["Assertion failed:"], values)); },
  count() {},
};
