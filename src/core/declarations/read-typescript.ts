import type { Node } from 'web-tree-sitter'
import type { Declaration, DeclarationKind, ModuleExport, ModuleImport, ModuleText, Parameter } from './declaration.ts'
import { TYPESCRIPT_KINDS } from './typescript-kinds.ts'

/** Reads the declarations of a parsed TypeScript or JavaScript module. Text that could not be parsed is left out. */
export function readTypeScript(root: Node, text: string): ModuleText {
  return new ModuleReader(text).read(root)
}

/**
 * Rewrites what the grammar cannot parse. Functions that are exported as default without a name get the name that TypeScript itself gives to
 * default exports. Types that are written as an import with a member become one word, which the reader turns back. Destructured parameters lose the
 * question mark of `({ a }?: Options)`.
 */
export function adaptToGrammar(text: string): string {
  return text
    .replace(/^([ \t]*export[ \t]+default[ \t]+(?:async[ \t]+)?function)[ \t]*(?=[(<])/gm, '$1 _default')
    .replace(/\bimport\((['"])[\w@$./:-]+\1\)\.(?=[A-Za-z_$])/g, (type) => mapChars(type, PLAIN, WORD_CHARS))
    .replace(/\}\?(?=:)/g, '}')
}

/** Characters of imported types, and letters that stand for them in one word. */
const PLAIN = `()'"@./:-`
const WORD_CHARS = '\u2045\u2046\u2018\u201c\uff20\u2024\u2215\ua789\u2010'

function mapChars(text: string, from: string, to: string): string {
  return [...text].map((char) => to[from.indexOf(char)] ?? char).join('')
}

const ADAPTED_TYPE = /import\u2045.*?\u2046\u2024/g

/** Turns imported types back. */
function restore(text: string): string {
  return text.includes('\u2045') ? text.replace(ADAPTED_TYPE, (type) => mapChars(type, WORD_CHARS, PLAIN)) : text
}

class ModuleReader {
  readonly #text: string
  readonly #declarations: Declaration[] = []
  readonly #exports: ModuleExport[] = []
  readonly #exportsAllOf: string[] = []
  readonly #imports: ModuleImport[] = []
  readonly #ambientModules = new Map<string, ModuleText>()
  #exportEquals: string | null = null

  constructor(text: string) {
    this.#text = text
  }

  read(body: Node): ModuleText {
    for (const { node, doc } of withDocs(body, this.#text)) this.#readStatement(node, doc)
    return {
      declarations: this.#declarations,
      exports: this.#exports,
      exportsAllOf: this.#exportsAllOf,
      imports: this.#imports,
      exportEquals: this.#exportEquals,
      ambientModules: this.#ambientModules,
    }
  }

  #readStatement(node: Node, doc: string): void {
    if (node.type === 'import_statement') this.#readImport(node)
    else if (node.type === 'export_statement') this.#readExport(node, doc)
    else if (node.type === 'module' || isWrapped(node, 'module')) this.#readAmbientModule(unwrap(node))
    else if (isWrapped(node, 'statement_block')) {
      // `declare global { … }` declares nothing that a module exports.
    } else this.#declarations.push(...readDeclarations(node, doc, this.#text))
  }

  #readAmbientModule(node: Node): void {
    const name = node.childForFieldName('name')
    const body = node.childForFieldName('body')
    if (name === null || body === null) return
    this.#ambientModules.set(unquote(name.text), new ModuleReader(this.#text).read(body))
  }

  #readImport(node: Node): void {
    const source = node.childForFieldName('source')
    const required = childOfType(node, 'import_require_clause')
    if (required !== undefined) {
      const [name] = required.namedChildren
      const from = required.childForFieldName('source')
      if (name !== undefined && name !== null && from !== null) {
        this.#imports.push({ local: name.text, name: '*', from: unquote(from.text) })
      }
      return
    }
    if (source === null) return
    const from = unquote(source.text)
    for (const clause of childOfType(node, 'import_clause')?.namedChildren ?? []) {
      if (clause === null) continue
      if (clause.type === 'identifier') this.#imports.push({ local: clause.text, name: 'default', from })
      else if (clause.type === 'namespace_import') {
        this.#imports.push({ local: clause.namedChildren[0]?.text ?? '', name: '*', from })
      } else
        for (const { name, alias } of readSpecifiers(clause)) this.#imports.push({ local: alias ?? name, name, from })
    }
  }

  #readExport(node: Node, doc: string): void {
    const source = node.childForFieldName('source')
    const from = source === null ? null : unquote(source.text)
    const declaration = node.childForFieldName('declaration')
    const words = node.children.flatMap((child) => (child === null || child.isNamed ? [] : [child.type]))
    const isDefault = words.includes('default')
    if (declaration !== null) {
      const found = readDeclarations(declaration, doc, this.#text, isDefault ? 'default' : undefined)
      this.#declarations.push(...found)
      for (const name of new Set(found.map((one) => one.name))) {
        this.#exports.push({ name: isDefault ? 'default' : name, local: name, from: null })
      }
      return
    }
    const clause = childOfType(node, 'export_clause')
    for (const { name, alias } of clause === undefined ? [] : readSpecifiers(clause)) {
      this.#exports.push({ name: alias ?? name, local: name, from })
    }
    const namespace = childOfType(node, 'namespace_export')
    if (namespace !== undefined) {
      this.#exports.push({ name: namespace.namedChildren[0]?.text ?? '', local: '*', from })
    } else if (words.includes('*') && from !== null) this.#exportsAllOf.push(from)
    else if (words.includes('=')) this.#exportEquals = node.namedChildren[0]?.text ?? null
    else if (isDefault) {
      const value = node.childForFieldName('value')
      const found = value === null ? [] : readDeclarations(value, doc, this.#text, 'default')
      this.#declarations.push(...found)
      if (value !== null) this.#exports.push({ name: 'default', local: found[0]?.name ?? value.text, from: null })
    }
  }
}

/** Reads the declarations of a statement. Several variables in one statement are several declarations; `unnamed` names one without a name. */
function readDeclarations(statement: Node, doc: string, text: string, unnamed?: string): Declaration[] {
  const node = statement.type === 'ambient_declaration' ? unwrap(statement) : statement
  if (node.type === 'lexical_declaration' || node.type === 'variable_declaration') {
    const keyword = node.children[0]?.text ?? 'const'
    return node.namedChildren.flatMap((child) =>
      child?.type === 'variable_declarator' ? [readVariable(child, doc, text, keyword)] : [],
    )
  }
  if (node.type === 'expression_statement' && node.namedChildren[0]?.type === 'internal_module') {
    return readDeclarations(node.namedChildren[0], doc, text)
  }
  const kind = TYPESCRIPT_KINDS[node.type]
  const name = node.childForFieldName('name')?.text ?? unnamed
  if (kind === undefined || name === undefined) return []
  const body = node.childForFieldName('body') ?? childOfType(node, 'class_body') ?? undefined
  return [
    {
      ...createDeclaration(kind, name, node, doc, body),
      parameters: readParameters(node),
      type: kind === 'type' ? restore(node.childForFieldName('value')?.text ?? '') : readReturnType(node),
      heritage: readHeritage(node),
      ...(kind === 'namespace' && body !== undefined
        ? readNamespace(body, text)
        : { members: readMembers(kind === 'type' ? node.childForFieldName('value') : body, kind, text) }),
    },
  ]
}

function readVariable(node: Node, doc: string, text: string, keyword: string): Declaration {
  const type = node.childForFieldName('type')
  const value = node.childForFieldName('value')
  const isFunction = value !== null && /^(?:arrow_function|function_expression|function)$/.test(value.type)
  const declared = createDeclaration('variable', node.childForFieldName('name')?.text ?? '', node, doc, undefined)
  return {
    ...declared,
    signature: `${keyword} ${isFunction ? oneLine(text.slice(node.startIndex, value.childForFieldName('body')?.startIndex ?? value.endIndex)) : declared.signature}`,
    parameters: isFunction ? readParameters(value) : null,
    type: typeText(type),
    members: readMembers(type === null ? value : (type.namedChildren[0] ?? null), 'variable', text),
  }
}

function createDeclaration(
  kind: DeclarationKind,
  name: string,
  node: Node,
  doc: string,
  body: Node | undefined,
): Declaration {
  const source = body === undefined ? node.text : node.text.slice(0, body.startIndex - node.startIndex)
  return {
    ...{ kind, name, doc, line: node.startPosition.row, parameters: null, type: '', heritage: [], members: [] },
    signature: oneLine(source).replace(/(?<![;,{\s])[;,{\s]+$/, ''),
    isStatic: node.children.some((child) => child?.type === 'static'),
  }
}

/** Reads what a namespace declares, and the names around it that it exports. */
function readNamespace(body: Node, text: string): Pick<Declaration, 'members' | 'exports'> {
  const { declarations, exports } = new ModuleReader(text).read(body)
  const own = new Set(declarations.map(({ name }) => name))
  return { members: declarations, exports: exports.filter(({ local, from }) => from === null && !own.has(local)) }
}

/** Reads the members of a class, interface, enum or object type, and of those that a type intersects. Other types have none. */
function readMembers(body: Node | null | undefined, kind: DeclarationKind, text: string): Declaration[] {
  if (body === null || body === undefined) return []
  if (INTERSECTIONS.has(body.type)) return body.namedChildren.flatMap((part) => readMembers(part, kind, text))
  if (!MEMBER_LISTS.has(body.type)) return []
  const members: Declaration[] = []
  for (const { node, doc } of withDocs(body, text)) {
    const member = readMember(node, doc)
    if (member !== undefined) members.push(member)
  }
  return members
}

const MEMBER_LISTS: ReadonlySet<string> = new Set([
  ...['class_body', 'interface_body', 'object_type', 'enum_body', 'object'],
])

/** `{ a: string } & ({ b: string } & Other)` */
const INTERSECTIONS: ReadonlySet<string> = new Set(['intersection_type', 'parenthesized_type'])

function readMember(node: Node, doc: string): Declaration | undefined {
  const kind = MEMBER_KINDS[node.type]
  if (kind === undefined || node.children.some((child) => isPrivate(child))) return undefined
  const named = node.childForFieldName('name') ?? node.childForFieldName('key')
  const name = named ?? (node.type === 'property_identifier' ? node : null)
  if (name === null && kind !== 'call' && kind !== 'constructor') return undefined
  const label = name === null ? '' : unquote(name.text)
  if (label.startsWith('#')) return undefined
  const body = node.childForFieldName('body') ?? undefined
  const isAccessor = node.children.some((child) => child?.type === 'get' || child?.type === 'set')
  const memberKind = isAccessor ? 'property' : kind === 'method' && label === 'constructor' ? 'constructor' : kind
  const type = node.childForFieldName('type')
  const [inner] = type?.namedChildren ?? []
  const isFunctionType = kind === 'property' && inner?.type === 'function_type'
  return {
    ...createDeclaration(memberKind, label, node, doc, body),
    parameters: isAccessor ? null : readParameters(isFunctionType ? inner : node),
    type: kind === 'property' ? typeText(type) : readReturnType(node),
    members: kind === 'property' && inner?.type === 'object_type' ? readMembers(inner, kind, '') : [],
  }
}

const MEMBER_KINDS: Readonly<Record<string, DeclarationKind>> = {
  property_signature: 'property',
  public_field_definition: 'property',
  field_definition: 'property',
  method_signature: 'method',
  method_definition: 'method',
  abstract_method_signature: 'method',
  call_signature: 'call',
  construct_signature: 'constructor',
  enum_assignment: 'property',
  property_identifier: 'property',
  pair: 'property',
}

function isPrivate(child: Node | null): boolean {
  return child?.type === 'accessibility_modifier' && child.text === 'private'
}

function readParameters(node: Node): Parameter[] | null {
  const list = node.childForFieldName('parameters')
  const single = node.childForFieldName('parameter')
  if (list === null)
    return single === null ? null : [{ name: restore(single.text), type: '', isOptional: false, isRest: false }]
  return list.namedChildren.flatMap((child) =>
    child === null || child.type === 'comment' ? [] : [readParameter(child)],
  )
}

function readParameter(node: Node): Parameter {
  const pattern = node.childForFieldName('pattern') ?? node.childForFieldName('left') ?? node
  const isRest = pattern.type === 'rest_pattern'
  return {
    name: oneLine(isRest ? (pattern.namedChildren[0]?.text ?? '') : pattern.text),
    type: typeText(node.childForFieldName('type')),
    isOptional: node.type === 'optional_parameter' || node.type === 'assignment_pattern' || hasValue(node),
    isRest,
  }
}

function hasValue(node: Node): boolean {
  return node.childForFieldName('value') !== null
}

/** The types after `extends` and `implements`. */
function readHeritage(node: Node): string[] {
  const clauses = node.namedChildren.flatMap((child) =>
    child?.type === 'class_heritage' ? child.namedChildren : [child],
  )
  const lists = clauses.filter(
    (child) => child !== null && /^(?:extends|implements|extends_type)_clause$/.test(child.type),
  )
  return lists.flatMap((clause) => {
    const names = oneLine(clause?.text.replace(/^(?:extends|implements)\s+/, '') ?? '')
    return splitTypes(names)
  })
}

/** Splits at commas outside of brackets. */
function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const char = text.charAt(at)
    if ('<({['.includes(char) && char !== '') depth++
    else if ('>)}]'.includes(char) && char !== '') depth--
    else if ((char === ',' && depth === 0) || char === '') {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return parts.filter((part) => part !== '')
}

function readReturnType(node: Node): string {
  return typeText(node.childForFieldName('return_type'))
}

function typeText(node: Node | null): string {
  return node === null ? '' : oneLine(node.text.replace(/^:/, ''))
}

/** The children of a node that are no comments, each with the doc comment right before it. */
function* withDocs(body: Node, text: string): Generator<{ readonly node: Node; readonly doc: string }> {
  let doc = ''
  let docEnd = 0
  for (const node of body.namedChildren) {
    if (node === null) continue
    if (node.type === 'comment') {
      const comment = node.text
      doc = comment.startsWith('/**') ? cleanDoc(comment) : comment.startsWith('//') ? doc : ''
      docEnd = node.endIndex
      continue
    }
    // Anything between a comment and a declaration belongs to neither.
    const isAdjacent = doc !== '' && /^[\s;,]*$/.test(text === '' ? '' : text.slice(docEnd, node.startIndex))
    yield { node, doc: isAdjacent ? doc : '' }
    doc = ''
  }
}

/** The text of a doc comment, without its marks. */
function cleanDoc(comment: string): string {
  const lines = restore(comment).slice(3, -2).split('\n')
  return lines
    .map((line, i) => (i === 0 ? line : line.replace(/^\s*\* ?/, '')).trimEnd())
    .join('\n')
    .trim()
}

function childOfType(node: Node, type: string): Node | undefined {
  return node.namedChildren.find((child) => child?.type === type) ?? undefined
}

function isWrapped(node: Node, type: string): boolean {
  return node.type === 'ambient_declaration' && unwrap(node).type === type
}

/** The declaration inside of `declare …`. */
function unwrap(node: Node): Node {
  return node.type === 'ambient_declaration' ? (node.namedChildren.find((child) => child !== null) ?? node) : node
}

function readSpecifiers(clause: Node): { readonly name: string; readonly alias: string | null }[] {
  return clause.namedChildren.flatMap((child) => {
    const name = child?.childForFieldName('name')
    if (child === null || name === null || name === undefined) return []
    return [{ name: unquote(name.text), alias: child.childForFieldName('alias')?.text ?? null }]
  })
}

function unquote(text: string): string {
  return /^(['"]).*\1$/s.test(text) ? text.slice(1, -1) : text
}

/** The text on one line, without comments. A comment mark in a string is none. */
function oneLine(text: string): string {
  return restore(text)
    .replace(COMMENT_OR_STRING, (whole) => (/^["'`]/.test(whole) ? whole : ' '))
    .replace(/\s+/g, ' ')
    .trim()
}

const COMMENT_OR_STRING =
  /"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\\?$)|'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\\?$)|`(?:\\.|[^`\\])*(?:`|\\?$)|\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*/g
