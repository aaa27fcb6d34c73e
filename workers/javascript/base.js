// What our own half needs of the language, taken before any code of a model runs: whatever that does
// to prototypes and globals afterwards, nothing here changes. All files of this folder are one
// function body, in the order of CMakeLists.txt.

const {
  create, defineProperty, freeze, getOwnPropertyDescriptor, getOwnPropertyNames,
  getPrototypeOf, is, keys: keysOf,
} = Object;
const { apply, construct, ownKeys, parse: parseProgram } = Reflect;
const { isArray } = Array;
const { parse: parseJson, stringify: toJson } = JSON;
const { max, min, floor, ceil, imul } = Math;
const { isInteger, isFinite: isFiniteNumber, isSafeInteger } = Number;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const push = uncurry(Array.prototype.push);
const join = uncurry(Array.prototype.join);
const sort = uncurry(Array.prototype.sort);
const splice = uncurry(Array.prototype.splice);
const sliceText = uncurry(String.prototype.slice);
const indexOf = uncurry(String.prototype.indexOf);
const startsWith = uncurry(String.prototype.startsWith);
const codeAt = uncurry(String.prototype.charCodeAt);
const split = uncurry(String.prototype.split);
const replaceText = uncurry(String.prototype.replace);
const repeatText = uncurry(String.prototype.repeat);
const lower = uncurry(String.prototype.toLowerCase);
const trim = uncurry(String.prototype.trim);
const exec = uncurry(RegExp.prototype.exec);
const regExpSource = uncurry(getOwnPropertyDescriptor(RegExp.prototype, "source").get);
const regExpFlags = uncurry(getOwnPropertyDescriptor(RegExp.prototype, "flags").get);
const dateText = uncurry(Date.prototype.toISOString);
const mapSize = uncurry(getOwnPropertyDescriptor(Map.prototype, "size").get);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const mapDelete = uncurry(Map.prototype.delete);
const mapEach = uncurry(Map.prototype.forEach);
const setSize = uncurry(getOwnPropertyDescriptor(Set.prototype, "size").get);
const setHas = uncurry(Set.prototype.has);
const setAdd = uncurry(Set.prototype.add);
const setEach = uncurry(Set.prototype.forEach);
const bigText = uncurry(BigInt.prototype.toString);
const symbolText = uncurry(Symbol.prototype.toString);
const functionText = uncurry(Function.prototype.toString);
const then = uncurry(Promise.prototype.then);
const resolved = Promise.resolve.bind(Promise);
const rejected = Promise.reject.bind(Promise);
const newPromise = (run) => construct(PromiseClass, [run]);
const PromiseClass = Promise, MapClass = Map, SetClass = Set, ProxyClass = Proxy;
const ErrorClass = Error, TypeErrorClass = TypeError, RangeErrorClass = RangeError;
const SyntaxErrorClass = SyntaxError, ReferenceErrorClass = ReferenceError;
const TextOf = String;  // as a function
const global = globalThis;
delete Reflect.parse;

const hasOwn = (object, key) => getOwnPropertyDescriptor(object, key) !== undefined;
// A data property of its own, else undefined: no getter of code runs.
const own = (object, key) => {
  if (object === null || typeof object !== "object") return undefined;
  const found = getOwnPropertyDescriptor(object, key);
  return found === undefined ? undefined : found.value;
};
const hide = (object, key, value) =>
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
// A field of a plain object, also where a prototype has a setter of that name.
const put = (object, key, value) =>
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const group = (number) => replaceText(TextOf(number), /\B(?=(\d{3})+$)/g, ",");

const addAll = (list, more) => {
  for (let i = 0; i < more.length; i++) push(list, more[i]);
  return list;
};
const setOf = (items) => {
  const set = new SetClass();
  for (let i = 0; i < items.length; i++) setAdd(set, items[i]);
  return set;
};

let notes = [];
const note = (text) => {
  for (let i = 0; i < notes.length; i++) if (notes[i] === text) return;
  push(notes, text);
};
