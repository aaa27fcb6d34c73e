// What the engine lacks of the language and of the usual surroundings of code.

const lacking = (object, name, value) => {
  if (!(name in object)) hide(object, name, value);
};
const iterate = function* (items) { yield* items; };

for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics"]) delete global[name];

lacking(Array.prototype, "findLastIndex", function findLastIndex(test, self) {
  for (let i = this.length - 1; i >= 0; i--) if (apply(test, self, [this[i], i, this])) return i;
  return -1;
});
lacking(Array.prototype, "findLast", function findLast(test, self) {
  for (let i = this.length - 1; i >= 0; i--) if (apply(test, self, [this[i], i, this])) return this[i];
  return undefined;
});
const copyOf = (list) => {
  const copy = [];
  for (let i = 0; i < list.length; i++) put(copy, i, list[i]);
  return copy;
};
lacking(Array.prototype, "toSorted", function toSorted(compare) { return sort(copyOf(this), compare); });
lacking(Array.prototype, "toReversed", function toReversed() {
  const copy = [];
  for (let i = this.length - 1; i >= 0; i--) push(copy, this[i]);
  return copy;
});
lacking(Array.prototype, "toSpliced", function toSpliced(...args) {
  const copy = copyOf(this);
  apply(Array.prototype.splice, copy, args);
  return copy;
});
lacking(Array.prototype, "with", function (index, value) {
  const at = index < 0 ? this.length + index : index;
  if (!(at >= 0 && at < this.length)) throw new RangeErrorClass("with: the index is outside the array");
  const copy = copyOf(this);
  copy[at] = value;
  return copy;
});
lacking(Object, "groupBy", function groupBy(items, keyOf) {
  const groups = create(null);
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    if (!(key in groups)) groups[key] = [];
    push(groups[key], item);
  }
  return groups;
});
lacking(Map, "groupBy", function groupBy(items, keyOf) {
  const groups = new MapClass();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    if (!mapHas(groups, key)) mapSet(groups, key, []);
    push(mapGet(groups, key), item);
  }
  return groups;
});
lacking(Array, "fromAsync", async function fromAsync(items, change) {
  const list = [];
  let index = 0;
  if (items[Symbol.asyncIterator] || items[Symbol.iterator]) {
    for await (const item of items) push(list, change ? await change(item, index++) : item);
  } else {
    for (; index < items.length; index++) {
      const item = await items[index];
      push(list, change ? await change(item, index) : item);
    }
  }
  return list;
});
lacking(Promise, "withResolvers", function withResolvers() {
  let resolve, reject;
  const promise = new this((yes, no) => { resolve = yes; reject = no; });
  return { promise, resolve, reject };
});
const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
const loneSurrogates = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
lacking(String.prototype, "isWellFormed", function isWellFormed() {
  return exec(loneSurrogate, TextOf(this)) === null;
});
lacking(String.prototype, "toWellFormed", function toWellFormed() {
  return replaceText(TextOf(this), loneSurrogates, "\uFFFD");
});

const setMethods = {
  union(other) { return new SetClass([...this, ...iterate(other.keys())]); },
  intersection(other) { return new SetClass([...this].filter((item) => other.has(item))); },
  difference(other) { return new SetClass([...this].filter((item) => !other.has(item))); },
  symmetricDifference(other) {
    const both = new SetClass(this);
    for (const item of other.keys()) if (!both.delete(item)) both.add(item);
    return both;
  },
  isSubsetOf(other) { return [...this].every((item) => other.has(item)); },
  isSupersetOf(other) { return [...other.keys()].every((item) => this.has(item)); },
  isDisjointFrom(other) { return ![...this].some((item) => other.has(item)); },
};
for (const name of keysOf(setMethods)) lacking(Set.prototype, name, setMethods[name]);

// Timers and microtasks. What a callback throws is shown, as a console would.
const guarded = (callback, args) => () => {
  try {
    apply(callback, undefined, args);
  } catch (error) {
    host.write(`Uncaught ${describe(error).text}\n`);
  }
};
const intervals = new MapClass();
const needFunction = (who, callback) => {
  if (typeof callback !== "function") throw new TypeErrorClass(`${who} takes a function`);
};
hide(global, "setTimeout", function setTimeout(callback, ms = 0, ...args) {
  needFunction("setTimeout", callback);
  return host.setTimer(guarded(callback, args), +ms);
});
hide(global, "setInterval", function setInterval(callback, ms = 0, ...args) {
  needFunction("setInterval", callback);
  const run = guarded(callback, args);
  const again = () => {
    mapSet(intervals, id, host.setTimer(again, +ms));
    run();
  };
  const id = host.setTimer(again, +ms);
  mapSet(intervals, id, id);
  return id;
});
const clear = (id) => {
  host.clearTimer(mapHas(intervals, id) ? mapGet(intervals, id) : id);
  mapDelete(intervals, id);
};
hide(global, "clearTimeout", function clearTimeout(id) { clear(id); });
hide(global, "clearInterval", function clearInterval(id) { clear(id); });
hide(global, "queueMicrotask", function queueMicrotask(callback) {
  needFunction("queueMicrotask", callback);
  then(resolved(), guarded(callback, []));
});
const begun = host.now();
hide(global, "performance", { now: () => host.now() - begun, timeOrigin: 0 });

const clonable = (value, seen) => {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeErrorClass(`structuredClone: a ${typeof value} cannot be cloned`);
  }
  if (value === null || typeof value !== "object") return value;
  if (mapHas(seen, value)) return mapGet(seen, value);
  const keep = (copy) => (mapSet(seen, value, copy), copy);
  if (value instanceof Date) return keep(new Date(+value));
  if (value instanceof RegExp) return keep(new RegExp(regExpSource(value), regExpFlags(value)));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = clonable(value.buffer, seen);
    return keep(new value.constructor(buffer, value.byteOffset, value.length ?? value.byteLength));
  }
  if (value instanceof MapClass) {
    const copy = keep(new MapClass());
    mapEach(value, (item, key) => mapSet(copy, clonable(key, seen), clonable(item, seen)));
    return copy;
  }
  if (value instanceof SetClass) {
    const copy = keep(new SetClass());
    setEach(value, (item) => setAdd(copy, clonable(item, seen)));
    return copy;
  }
  if (value instanceof ErrorClass) {
    const copy = keep(new ErrorClass(value.message));
    hide(copy, "name", value.name);
    return copy;
  }
  const copy = keep(isArray(value) ? [] : {});
  for (const key of keysOf(value)) put(copy, key, clonable(value[key], seen));
  return copy;
};
hide(global, "structuredClone", function structuredClone(value) { return clonable(value, new MapClass()); });

hide(global, "TextEncoder", class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") {
    const source = `${text}`, bytes = [];
    for (let i = 0; i < source.length; i++) {
      let code = codeAt(source, i);
      if (code >= 0xd800 && code < 0xe000) {
        const next = code < 0xdc00 && i + 1 < source.length ? codeAt(source, i + 1) : 0;
        if (next >= 0xdc00 && next < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
          i++;
        } else code = 0xfffd;
      }
      if (code < 0x80) push(bytes, code);
      else if (code < 0x800) push(bytes, 0xc0 | code >> 6, 0x80 | code & 63);
      else if (code < 0x10000) push(bytes, 0xe0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63);
      else push(bytes, 0xf0 | code >> 18, 0x80 | code >> 12 & 63, 0x80 | code >> 6 & 63, 0x80 | code & 63);
    }
    return Uint8Array.from(bytes);
  }
});
hide(global, "TextDecoder", class TextDecoder {
  constructor(label = "utf-8") {
    if (!/^utf-?8$/i.test(label)) throw new RangeErrorClass(`TextDecoder: ${label} is not offered; utf-8 is`);
  }
  get encoding() { return "utf-8"; }
  decode(view = new Uint8Array()) {
    const bytes = ArrayBuffer.isView(view) ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
                                           : new Uint8Array(view);
    const parts = [];
    for (let i = 0; i < bytes.length;) {
      const lead = bytes[i++];
      const more = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2
        : lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
      let code = more < 0 ? -1 : lead & (more === 0 ? 0x7f : 0x3f >> more);
      for (let k = 0; k < more && code >= 0; k++) {
        if ((bytes[i] & 0xc0) === 0x80) code = code << 6 | bytes[i++] & 63;
        else code = -1;
      }
      const least = [0, 0x80, 0x800, 0x10000][max(more, 0)];
      const wrong = code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
      push(parts, String.fromCodePoint(wrong ? 0xfffd : code));
    }
    return join(parts, "");
  }
});

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
hide(global, "btoa", function btoa(text) {
  const source = `${text}`;
  let out = "";
  for (let i = 0; i < source.length; i += 3) {
    let bits = 0;
    for (let k = 0; k < 3; k++) {
      const code = i + k < source.length ? codeAt(source, i + k) : 0;
      if (code > 255) throw new RangeErrorClass("btoa: a character above U+00FF");
      bits = bits << 8 | code;
    }
    const left = source.length - i;
    out += base64[bits >> 18] + base64[bits >> 12 & 63] + (left > 1 ? base64[bits >> 6 & 63] : "=")
      + (left > 2 ? base64[bits & 63] : "=");
  }
  return out;
});
hide(global, "atob", function atob(text) {
  const source = replaceText(replaceText(`${text}`, /[\t\n\f\r ]/g, ""), /={1,2}$/, "");
  if (exec(/[^A-Za-z0-9+/]/, source) || source.length % 4 === 1) {
    throw new RangeErrorClass("atob: the text is not base64");
  }
  let out = "", bits = 0, count = 0;
  for (let i = 0; i < source.length; i++) {
    bits = bits << 6 | indexOf(base64, source[i]);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += String.fromCharCode(bits >> count & 255);
    }
  }
  return out;
});

const urlPattern = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:([^/?#@:]*)(?::([^/?#@]*))?@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?)?([^?#]*)(\?[^#]*)?(#.*)?$/i;
const decodePart = (text) => {
  try { return decodeURIComponent(replaceText(text, /\+/g, " ")); } catch { return text; }
};
hide(global, "URLSearchParams", class URLSearchParams {
  #pairs = [];
  constructor(from = "") {
    if (typeof from === "string") {
      for (const part of replaceText(from, /^\?/, "").split("&")) {
        if (part === "") continue;
        const at = part.indexOf("=");
        this.append(decodePart(at < 0 ? part : part.slice(0, at)), at < 0 ? "" : decodePart(part.slice(at + 1)));
      }
    } else for (const [key, value] of from[Symbol.iterator] ? from : Object.entries(from)) this.append(key, value);
  }
  append(key, value) { this.#pairs.push([`${key}`, `${value}`]); }
  delete(key) { this.#pairs = this.#pairs.filter((pair) => pair[0] !== key); }
  get(key) { return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null; }
  getAll(key) { return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]); }
  has(key) { return this.#pairs.some((pair) => pair[0] === key); }
  set(key, value) { this.delete(key); this.append(key, value); }
  forEach(run) { for (const [key, value] of this) run(value, key, this); }
  *keys() { for (const pair of this) yield pair[0]; }
  *values() { for (const pair of this) yield pair[1]; }
  *entries() { for (const pair of this.#pairs) yield [pair[0], pair[1]]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() {
    return this.#pairs.map((pair) => pair.map((part) => encodeURIComponent(part).replace(/%20/g, "+")).join("="))
      .join("&");
  }
});
const URLSearchParamsClass = global.URLSearchParams;
const defaultPorts = { __proto__: null, "http:": "80", "https:": "443", "ftp:": "21", "ws:": "80", "wss:": "443" };
const withoutDots = (path) => {
  const out = [], parts = path.split("/");
  parts.forEach((part, i) => {
    const last = i === parts.length - 1;
    if (part === "..") { if (out.length > 1) out.pop(); if (last) out.push(""); }
    else if (part === ".") { if (last) out.push(""); }
    else out.push(part);
  });
  return out.join("/");
};
hide(global, "URL", class URL {
  constructor(text, base) {
    let found = exec(urlPattern, trim(`${text}`));
    if (!found && base !== undefined) {
      const from = new URL(base), link = trim(`${text}`);
      const folder = from.pathname.slice(0, from.pathname.lastIndexOf("/") + 1);
      const joined = link.startsWith("//") ? from.protocol + link
        : link.startsWith("/") ? from.origin + link
        : link.startsWith("?") ? from.origin + from.pathname + link
        : link.startsWith("#") ? from.origin + from.pathname + from.search + link
        : link === "" ? from.origin + from.pathname + from.search : from.origin + folder + link;
      found = exec(urlPattern, joined);
    }
    if (!found) throw new TypeErrorClass(`URL: ${text} is not an absolute address`);
    this.protocol = `${found[1].toLowerCase()}:`;
    this.username = found[2] ?? "";
    this.password = found[3] ?? "";
    this.hostname = (found[4] ?? "").toLowerCase();
    this.port = (found[5] ?? "") === defaultPorts[this.protocol] ? "" : found[5] ?? "";
    const special = this.protocol in defaultPorts;
    const path = special ? withoutDots(found[6] || "/") : found[6];
    this.pathname = replaceText(path, /[ "<>`{}]/g, encodeURIComponent);
    this.hash = found[8] === "#" ? "" : found[8] ?? "";
    this.searchParams = new URLSearchParamsClass(found[7] ?? "");
    this.search = (found[7] ?? "").length > 1 ? replaceText(found[7], /[ "<>]/g, encodeURIComponent) : "";
  }
  get host() { return this.hostname + (this.port ? `:${this.port}` : ""); }
  get origin() { return this.protocol in defaultPorts ? `${this.protocol}//${this.host}` : "null"; }
  get href() {
    const user = this.username ? this.username + (this.password ? `:${this.password}` : "") + "@" : "";
    const slashes = this.hostname || this.protocol in defaultPorts || this.protocol === "file:" ? "//" : "";
    return this.protocol + slashes + user + this.host + this.pathname + this.search + this.hash;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
});

if (global.Intl && !Intl.Segmenter) {
  // A base with its marks, joined emoji, flags and line ends; words and sentences are not offered.
  const cluster = /\r\n|\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\uFE0F\u20E3?|[\u{E0020}-\u{E007F}])*(?:\u200D\p{Emoji}(?:\p{EMod}|\uFE0F)*)*[\p{M}\u200D]*|[\u1100-\u115F]*[\uAC00-\uD7A3\u1160-\u11A7][\u1160-\u11FF]*|\P{M}[\p{M}\u200C\u200D]*|\p{M}+/gsu;
  hide(Intl, "Segmenter", class Segmenter {
    constructor(locale, options = {}) {
      const granularity = options.granularity ?? "grapheme";
      if (granularity !== "grapheme") {
        throw new RangeErrorClass(`Intl.Segmenter: granularity "${granularity}" is not offered; "grapheme" is`);
      }
    }
    segment(input) {
      const text = `${input}`;
      return {
        *[Symbol.iterator]() {
          for (const found of text.matchAll(cluster)) {
            yield { segment: found[0], index: found.index, input: text };
          }
        },
      };
    }
  });
}
