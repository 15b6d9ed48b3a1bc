import type { Node } from 'web-tree-sitter'
import type { GrammarName } from './languages.ts'

/** What a rule reports about a definition in the code. */
export interface Definition {
  /** The name as written, but with `.` for `::`, collapsed white space and no template arguments. */
  readonly name: string
  /** The node whose children can be members. Only containers have a body. */
  readonly body?: Node | undefined
  /** Whether the definition is a signature without a body. Overloads stay with the definition that follows them. */
  readonly isSignature?: boolean
}

/**
 * Returns the definition of a node; undefined if it defines nothing. The node type alone does not tell: `const x = 1` and
 * `const f = () => 1` have the same type.
 */
export type ReadDefinition = (node: Node, text: string) => Definition | undefined

/** Rules of one grammar for the code chunker, by node type. */
export interface CodeRules {
  readonly definitions: Readonly<Record<string, ReadDefinition>>
  /**
   * Node types that wrap a definition. A wrapper with one definition counts as that definition; several definitions in a wrapper
   * count separately.
   */
  readonly wrappers: readonly string[]
  /** Node types whose children count as children of their parent: conditional compilation, `extern "C"`. */
  readonly groups: readonly string[]
  /**
   * Like `groups`, but only for statements longer than the target chunk size, such as module wrappers and `try … except`. Only the longest
   * block of the statement is searched for definitions.
   */
  readonly blocks: readonly string[]
  /** Node types that belong to the next definition: comments, attributes, decorators. */
  readonly leading: readonly string[]
  /** Whether only `;` or a bracket ends a statement, and a line end does not. */
  readonly needsSemicolons?: boolean
}

const JAVASCRIPT: CodeRules = {
  definitions: {
    function_declaration: namedDefinition(),
    generator_function_declaration: namedDefinition(),
    class_declaration: container(),
    variable_declarator: assignedDefinition('name', 'value'),
    assignment_expression: assignedDefinition('left', 'right'),
    export_statement: readDefaultExport,
    method_definition: namedDefinition(),
    field_definition: assignedDefinition('property', 'value'),
  },
  wrappers: ['export_statement', 'lexical_declaration', 'variable_declaration', 'expression_statement'],
  groups: [],
  blocks: ['statement_block'],
  leading: ['comment', 'decorator'],
}

const TYPESCRIPT: CodeRules = {
  ...JAVASCRIPT,
  definitions: {
    ...JAVASCRIPT.definitions,
    abstract_class_declaration: container(),
    interface_declaration: container(),
    type_alias_declaration: namedDefinition(),
    enum_declaration: namedDefinition(),
    internal_module: container(),
    module: container(),
    ambient_declaration: globalAugmentation,
    public_field_definition: assignedDefinition('name', 'value'),
    function_signature: signature(),
    method_signature: signature(),
    abstract_method_signature: signature(),
  },
  wrappers: [...JAVASCRIPT.wrappers, 'ambient_declaration'],
}

const PYTHON: CodeRules = {
  definitions: { function_definition: namedDefinition(), class_definition: container() },
  wrappers: ['decorated_definition'],
  groups: [],
  blocks: ['block'],
  leading: ['comment'],
}

const GO: CodeRules = {
  definitions: {
    function_declaration: namedDefinition(),
    method_declaration: goMethod,
    type_spec: namedDefinition(),
    type_alias: namedDefinition(),
  },
  wrappers: ['type_declaration'],
  groups: [],
  blocks: [],
  leading: ['comment'],
}

const RUST: CodeRules = {
  definitions: {
    function_item: namedDefinition(),
    function_signature_item: signature(),
    struct_item: namedDefinition(),
    enum_item: namedDefinition(),
    union_item: namedDefinition(),
    trait_item: container(),
    impl_item: rustImpl,
    mod_item: withBody(container()),
    macro_definition: namedDefinition(),
  },
  wrappers: [],
  groups: ['foreign_mod_item', 'declaration_list'],
  blocks: [],
  leading: ['line_comment', 'block_comment', 'attribute_item'],
  needsSemicolons: true,
}

const JAVA: CodeRules = {
  definitions: {
    class_declaration: container(),
    interface_declaration: container(),
    enum_declaration: container(),
    record_declaration: container(),
    annotation_type_declaration: container(),
    method_declaration: namedDefinition(),
    constructor_declaration: namedDefinition(),
    compact_constructor_declaration: namedDefinition(),
    annotation_type_element_declaration: namedDefinition(),
  },
  wrappers: [],
  groups: ['enum_body_declarations'],
  blocks: [],
  leading: ['line_comment', 'block_comment'],
  needsSemicolons: true,
}

const C: CodeRules = {
  definitions: {
    function_definition: cFunction,
    struct_specifier: withBody(container()),
    union_specifier: withBody(container()),
    enum_specifier: withBody(namedDefinition()),
    type_definition: cTypedef,
    declaration: cDeclaration,
    field_declaration: cDeclaration,
  },
  wrappers: [],
  groups: [
    'linkage_specification',
    'declaration_list',
    'preproc_if',
    'preproc_ifdef',
    'preproc_else',
    'preproc_elif',
    'preproc_elifdef',
  ],
  blocks: [],
  leading: ['comment'],
  needsSemicolons: true,
}

const CPP: CodeRules = {
  ...C,
  definitions: {
    ...C.definitions,
    class_specifier: withBody(container()),
    namespace_definition: container(),
    concept_definition: namedDefinition(),
  },
  wrappers: ['template_declaration'],
}

const RUBY: CodeRules = {
  definitions: {
    // The comment before a first member is a child of the class, not of its body, so both are searched for members.
    class: rubyContainer,
    module: rubyContainer,
    method: namedDefinition(),
    singleton_method: namedDefinition(),
  },
  // `private def secret` is a call with a method as its argument.
  wrappers: ['call', 'argument_list'],
  groups: ['body_statement', 'singleton_class'],
  blocks: ['do_block', 'block'],
  leading: ['comment'],
}

const BASH: CodeRules = {
  definitions: { function_definition: namedDefinition() },
  wrappers: [],
  groups: [],
  blocks: [],
  leading: ['comment'],
}

/** The rules of every grammar. */
export const CODE_RULES: Readonly<Record<GrammarName, CodeRules>> = {
  javascript: JAVASCRIPT,
  typescript: TYPESCRIPT,
  tsx: TYPESCRIPT,
  python: PYTHON,
  go: GO,
  rust: RUST,
  java: JAVA,
  c: C,
  cpp: CPP,
  ruby: RUBY,
  bash: BASH,
}

/** How many nodes a name may lie below its definition (`char *(*f(int))(void)`). A name that lies deeper is not found. */
const MAX_NAME_STEPS = 16

function namedDefinition(): ReadDefinition {
  return (node, text) => createDefinition(node.childForFieldName('name'), text)
}

function signature(): ReadDefinition {
  return (node, text) => {
    const definition = createDefinition(node.childForFieldName('name'), text)
    return definition && { ...definition, isSignature: true }
  }
}

function container(): ReadDefinition {
  return (node, text) => createDefinition(node.childForFieldName('name'), text, node.childForFieldName('body'))
}

/** Accepts only nodes with a body: `struct Node;` and `mod parse;` are defined elsewhere. */
function withBody(read: ReadDefinition): ReadDefinition {
  return (node, text) => (node.childForFieldName('body') === null ? undefined : read(node, text))
}

function rubyContainer(node: Node, text: string): Definition | undefined {
  return createDefinition(node.childForFieldName('name'), text, node)
}

/** `x = function…`, `x = () => …` or `x = class…` in a declaration, an assignment or a field. */
function assignedDefinition(target: string, value: string): ReadDefinition {
  return (node, text) => {
    const right = node.childForFieldName(value)
    if (right === null || !isFunctionOrClass(right)) return undefined
    const left = node.childForFieldName(target)
    if (left === null || left.type === 'subscript_expression') return undefined
    const name = nameOf(left, text)
      .replace(/^(module\.)?exports\.(?=.)/, '')
      .replace('.prototype.', '.')
    return name === '' ? undefined : { name, body: classBody(right) }
  }
}

/** `export default` of a function expression or a class. The name is `default` if the value has none. */
function readDefaultExport(node: Node, text: string): Definition | undefined {
  const value = node.childForFieldName('value') ?? node.childForFieldName('declaration')
  if (value === null || !(isFunctionOrClass(value) || value.type === 'class_declaration')) return undefined
  const name = value.childForFieldName('name')
  return { name: name === null ? 'default' : nameOf(name, text) || 'default', body: classBody(value) }
}

/** `declare global { … }`. Other ambient declarations are wrappers. */
function globalAugmentation(node: Node): Definition | undefined {
  if (node.child(1)?.type !== 'global') return undefined
  return { name: 'global', body: node.child(2) ?? undefined }
}

function isFunctionOrClass(node: Node): boolean {
  return /^(arrow_function|function_expression|generator_function|class)$/.test(node.type)
}

function classBody(node: Node): Node | undefined {
  return node.type.startsWith('class') ? (node.childForFieldName('body') ?? undefined) : undefined
}

/** `func (r *Stack[T]) Push()` is `Stack.Push`. */
function goMethod(node: Node, text: string): Definition | undefined {
  const method = createDefinition(node.childForFieldName('name'), text)
  const receiver = node.childForFieldName('receiver')?.namedChild(0)?.childForFieldName('type')
  if (method === undefined || !receiver) return method
  const type = nameOf(receiver, text)
    .replace(/^[*\s(]+/, '')
    .replace(/[[\s)].*$/, '')
  return type === '' ? method : { name: `${type}.${method.name}` }
}

/** An `impl` is named after the type it is for: `impl<T> fmt::Display for Stack<T>` is `Stack`. */
function rustImpl(node: Node, text: string): Definition | undefined {
  let type = node.childForFieldName('type')
  for (let steps = 0; type !== null && steps < MAX_NAME_STEPS; steps++) {
    const inner: Node | null = type.childForFieldName('type') ?? type.childForFieldName('trait')
    if (inner === null) break
    type = inner
  }
  return createDefinition(type, text, node.childForFieldName('body'))
}

function cFunction(node: Node, text: string): Definition | undefined {
  return createDefinition(declaredName(node), text)
}

/** `struct point { … } origin;` defines `point`; without a tag, the declared name counts. */
function cDeclaration(node: Node, text: string): Definition | undefined {
  const type = node.childForFieldName('type')
  if (type === null || !/^(struct|union|enum|class)_specifier$/.test(type.type)) return undefined
  const body = type.childForFieldName('body')
  if (body === null) return undefined
  return createDefinition(
    type.childForFieldName('name') ?? declaredName(node),
    text,
    type.type === 'enum_specifier' ? null : body,
  )
}

/** `typedef struct node { … } node_t;` defines `node_t`, the name that code uses. */
function cTypedef(node: Node, text: string): Definition | undefined {
  const definition = cDeclaration(node, text)
  return definition && { ...definition, ...createDefinition(declaredName(node), text) }
}

/** Follows declarators down to the name: `*(*f(int))(void)` → `f`. */
function declaredName(node: Node): Node | null {
  let at = node.childForFieldName('declarator')
  for (let steps = 0; at !== null && steps < MAX_NAME_STEPS; steps++) {
    if (/(identifier|_name|_cast|template_function)$/.test(at.type)) return at
    at = at.childForFieldName('declarator') ?? at.namedChild(0)
  }
  return null
}

function createDefinition(nameNode: Node | null, text: string, body: Node | null = null): Definition | undefined {
  const name = nameNode === null ? '' : nameOf(nameNode, text)
  if (name === '') return undefined
  return body === null ? { name } : { name, body }
}

/** Longest name kept. Real names are far shorter; broken code can turn half a file into a "name". */
const MAX_NAME = 200

function nameOf(node: Node, text: string): string {
  let name = text.slice(node.startIndex, Math.min(node.endIndex, node.startIndex + MAX_NAME)).trim()
  if (node.type === 'string') name = name.replace(/^['"`]|['"`]$/g, '')
  if (node.type === 'operator_cast') name = name.replace(/(?<!\s)\s*\(.*$/s, '')
  // Template arguments (`Stack<int>::push`), but not operators: Ruby's `<=>`, C++'s `operator<`.
  if (/^\w/.test(name) && !name.includes('operator')) name = name.replace(/<[^<>]*>/g, '').replace(/<[^<>]*>/g, '')
  name = name.replace(/\s+/g, ' ').replaceAll('::', '.').replace(/^\./, '')
  return name.replace(/[\ud800-\udbff]$/, '').trim()
}
