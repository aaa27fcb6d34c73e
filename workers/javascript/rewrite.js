// A block of code as it runs: its top-level names become properties of the global object, so that
// they persist and may be declared again, `await` works, and the last expression is the value.
//
//   rewrite("let a = 1; a + 1")  // {body: "(async()=>{;0, a = 1; ;return a + 1\n})()", names: ["a"], …}
//
// Lines stay where they are. Functions are taken out and run before, as their hoisting asks.

const HEAD = "(async()=>{", TAIL = "\n})";

// The offset of a place that the parser names: line from 1, column in code points.
class Places {
  #starts = [0];
  constructor(source) {
    this.source = source;
    for (let i = 0; i < source.length; i++) {
      const code = codeAt(source, i);
      if (code === 13 && codeAt(source, i + 1) === 10) continue;
      if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) push(this.#starts, i + 1);
    }
  }
  offset(place) {
    let at = this.#starts[place.line - 1];
    for (let left = place.column; left > 0 && at < this.source.length; left--) {
      const code = codeAt(this.source, at);
      at += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
    }
    return at;
  }
  // The first thing behind `at` that is no space, comment, or end of what stood before.
  skip(at) {
    for (;;) {
      const rest = exec(/^(?:[\s\uFEFF;)]+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)/, sliceText(this.source, at));
      if (rest === null) return at;
      at += rest[0].length;
    }
  }
}

class Rewriting {
  edits = [];
  names = [];
  functions = [];
  last = [];  // names that the last statement sets
  body_ = [];  // the statements as the parser sees them
  constructor(source) { this.places = new Places(source); }

  edit(at, end, text) { push(this.edits, { __proto__: null, at, end, text }); }
  start(node) { return this.places.offset(node.loc.start); }
  end(node) { return this.places.offset(node.loc.end); }

  statements(body) {
    const { places } = this;
    let end = HEAD.length;
    for (let i = 0; i < body.length; i++) {
      const node = body[i], start = places.skip(end), final = i === body.length - 1;
      const before = this.names.length;
      end = this.end(node);
      this.edit(start, start, ";");
      switch (node.type) {
        case "VariableDeclaration":
          this.declaration(node, start, "0,");
          break;
        case "ClassStatement":
        case "ClassDeclaration":
          this.name(node.id.name);
          this.edit(start, start, `${node.id.name}=`);
          break;
        case "FunctionDeclaration":
          this.hoist(node, start, end);
          break;
        case "ExpressionStatement":
          if (final) this.edit(start, start, "return ");
          break;
        default:
          this.nested(node);
      }
      if (final) for (let k = before; k < this.names.length; k++) push(this.last, this.names[k]);
    }
  }

  name(name) {
    for (let i = 0; i < this.names.length; i++) if (this.names[i] === name) return;
    push(this.names, name);
  }

  hoist(node, start, end) {
    const text = sliceText(this.places.source, start, end);
    this.name(node.id.name);
    push(this.functions, { __proto__: null, text, line: node.loc.start.line });
    this.edit(start, end, replaceText(text, /[^\n\r\u2028\u2029]+/g, ""));
  }

  // `let a = 1, {b} = f()` becomes `0, a = 1, {b} = f()`.
  declaration(node, start, instead) {
    this.edit(start, start + node.kind.length, instead);
    for (let i = 0; i < node.declarations.length; i++) {
      const { id, init } = node.declarations[i];
      this.pattern(id);
      if (init !== null || id.type !== "Identifier" || instead === "") continue;
      const value = node.kind === "var" ? `(typeof ${id.name}==="undefined"?void 0:${id.name})` : "void 0";
      const end = this.start(id) + id.name.length;
      this.edit(end, end, `=${value}`);
    }
  }

  pattern(node) {
    if (node === null) return;
    switch (node.type) {
      case "Identifier": return this.name(node.name);
      case "AssignmentPattern": return this.pattern(node.left);
      case "AssignmentExpression": return this.pattern(node.left);
      case "SpreadExpression":
      case "RestElement": return this.pattern(node.expression ?? node.argument);
      case "ArrayPattern":
        for (let i = 0; i < node.elements.length; i++) this.pattern(node.elements[i]);
        return;
      case "ObjectPattern":
        for (let i = 0; i < node.properties.length; i++) this.pattern(node.properties[i].value ?? node.properties[i]);
    }
  }

  // `var` inside other statements is a top-level name, too.
  nested(node) {
    if (node === null || typeof node !== "object") return;
    switch (node.type) {
      case "VariableDeclaration":
        if (node.kind === "var") this.declaration(node, this.start(node), "0,");
        return;
      case "ForStatement":
        if (node.init?.type === "VariableDeclaration" && node.init.kind === "var") {
          this.declaration(node.init, this.start(node.init), "0,");
        }
        return this.nested(node.body);
      case "ForInStatement":
      case "ForOfStatement":
        if (node.left.type === "VariableDeclaration" && node.left.kind === "var") {
          this.declaration(node.left, this.start(node.left), "");
        }
        return this.nested(node.body);
      case "BlockStatement":
        for (let i = 0; i < node.body.length; i++) this.nested(node.body[i]);
        return;
      case "IfStatement":
        this.nested(node.consequent);
        return this.nested(node.alternate);
      case "WhileStatement":
      case "DoWhileStatement":
      case "LabeledStatement":
      case "WithStatement":
        return this.nested(node.body);
      case "TryStatement":
        this.nested(node.block);
        this.nested(node.handler?.body ?? null);
        return this.nested(node.finalizer);
      case "SwitchStatement":
        for (let i = 0; i < node.cases.length; i++) {
          for (let k = 0; k < node.cases[i].consequent.length; k++) this.nested(node.cases[i].consequent[k]);
        }
    }
  }

  body() {
    sort(this.edits, (a, b) => a.at - b.at);  // stable: those of one place stay in order
    const { source } = this.places, parts = [];
    let at = 0;
    for (let i = 0; i < this.edits.length; i++) {
      push(parts, sliceText(source, at, this.edits[i].at), this.edits[i].text);
      at = max(at, this.edits[i].end);
    }
    push(parts, sliceText(source, at), "()");
    return join(parts, "");
  }
}

// The statements of a block. Throws a SyntaxError with the line in the block.
const statementsOf = (code) => {
  let tree;
  try {
    tree = parseProgram(`${HEAD}${code}${TAIL}`, { loc: true });
  } catch (error) {
    const line = own(error, "lineNumber") ?? 0, lines = split(code, "\n").length;
    const wrong = new SyntaxErrorClass(own(error, "message") ?? "the code is no JavaScript");
    hide(wrong, "line", min(line, lines));
    hide(wrong, "incomplete", line > lines || /unterminated/.test(wrong.message));
    if (/\bimport\b|\bexport\b/.test(wrong.message)) {
      wrong.message += "; modules cannot be loaded here: what there is stands in the names of the session";
    }
    throw wrong;
  }
  const only = tree.body.length === 1 ? tree.body[0].expression : undefined;
  if (only?.type !== "ArrowFunctionExpression") {
    const wrong = new SyntaxErrorClass("unexpected token: '}'");
    hide(wrong, "line", 0);
    throw wrong;
  }
  return only.body.body;
};

const rewrite = (code) => {
  const body = statementsOf(code);
  const rewriting = new Rewriting(`${HEAD}${code}${TAIL}`);
  rewriting.statements(body);
  rewriting.body_ = body;
  return rewriting;
};
