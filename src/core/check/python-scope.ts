import type { PythonName } from './python-modules.ts'
import { childOf, field, fields, type SyntaxNode, textOf } from './syntax-tree.ts'

/** The names that a module or block of Python defines. */
export interface PythonScope {
  readonly names: ReadonlyMap<string, readonly PythonName[]>
  readonly stars: readonly string[]
  /** Whether a name can exist that the text does not define. */
  readonly isOpen: (name: string) => boolean
}

/** Code that can define names which the text of a module does not show. */
const DYNAMIC =
  /\bglobals\(\)\s*(?:\[|\.update)|\bvars\(\)\s*\[|\bsys\.modules\[\s*__name__|^exec\(|^[ \t]*__path__\s*=(?!\s*\[\])/m

/** Code that finds modules which have no file. */
const IMPORTER = /\bsys\.meta_path\b|^[ \t]*__path__\s*=/m

/** An importer that finds only what is in its table, which the module fills with names that it has as texts. */
const TABLE_IMPORTER = /\bdef find_(?:spec|module)\([^()]*\)[^:()\n]*:\s+if \w+ in self\.\w+:/

/** Reads the names of a module, also those inside of `if`, `try` and `with`. */
export function readPythonScope(root: SyntaxNode, module: string, isPackage: boolean): PythonScope {
  const names = new Map<string, PythonName[]>()
  const stars: string[] = []
  const add = (name: string, found: PythonName) => void names.set(name, [...(names.get(name) ?? []), found])
  const readBlock = (block: SyntaxNode) => {
    for (const node of block.children) readStatement(node)
  }
  const readStatement = (node: SyntaxNode) => {
    const definition = node.type === 'decorated_definition' ? field(node, 'definition') : node
    const name = definition === undefined ? undefined : field(definition, 'name')
    if (definition !== undefined && name !== undefined && /^(?:class|function)_definition$/.test(definition.type)) {
      const kind = definition.type === 'class_definition' ? 'class' : 'function'
      const decorators = node.children.filter(({ type }) => type === 'decorator')
      add(textOf(name), { kind, node: definition, decorators })
    } else if (node.type === 'import_statement') readImport(node, add)
    else if (node.type === 'import_from_statement') readFrom(node, module, isPackage, add, stars)
    else if (node.type === 'expression_statement' || node.type === 'type_alias_statement') {
      for (const target of assignedNames(node)) add(target.name, { kind: 'variable', node: target.node })
    } else if (BLOCKS.test(node.type)) readBlock(node)
  }
  readBlock(root)
  return { names, stars, isOpen: findOpenNames(root.source, names.get('__getattr__') ?? []) }
}

/** Decides which names a module can create: none, any, or those that it has as texts. */
function findOpenNames(source: string, getters: readonly PythonName[]): PythonScope['isOpen'] {
  if (DYNAMIC.test(source) || !getters.every(({ node }) => comparesTexts(node))) return () => true
  const hasImporter = IMPORTER.test(source)
  if (hasImporter && !TABLE_IMPORTER.test(source)) return () => true
  if (getters.length === 0 && !hasImporter) return () => false
  return (name) => new RegExp(`["'.]${name}["']`).test(source)
}

/** Whether `__getattr__` only compares the name with texts: `if name == "a": …`, then `raise AttributeError`. */
function comparesTexts(getter: SyntaxNode): boolean {
  const parameters = field(getter, 'parameters')
  const name = parameters === undefined ? undefined : /\w+/.exec(textOf(parameters))?.[0]
  const body = field(getter, 'body')
  if (name === undefined || body === undefined) return false
  const [code = '', failure] = textOf(body)
    .replace(/\w?"""[\s\S]*?"""|\w?"[^"\n]*"|\w?'[^'\n]*'/g, '""')
    .split(/\braise AttributeError\b(?=[^\n]*\s*$)/)
  const used = code.match(new RegExp(`\\b${name}\\b(?!\\s*=[^=])`, 'g'))?.length ?? 0
  const compared = code.match(new RegExp(`\\b${name}\\s*(?:==\\s*""|in\\s*[([{][\\s",]*[)\\]}])`, 'g'))?.length ?? 0
  return failure !== undefined && used === compared
}

const BLOCKS =
  /^(?:if_statement|elif_clause|else_clause|try_statement|except_clause|finally_clause|with_statement|for_statement|while_statement|block)$/

type AddName = (name: string, found: PythonName) => void

/** `import a.b`, `import a.b as c` */
function readImport(node: SyntaxNode, add: AddName): void {
  for (const part of fields(node, 'name')) {
    const alias = field(part, 'alias')
    const path = textOf(field(part, 'name') ?? part)
    const [first = ''] = path.split('.')
    if (alias !== undefined) add(textOf(alias), { kind: 'import', node: part, from: path, imported: null })
    else add(first, { kind: 'import', node: part, from: first, imported: null })
  }
}

function readFrom(node: SyntaxNode, module: string, isPackage: boolean, add: AddName, stars: string[]): void {
  const from = resolveFrom(node, module, isPackage)
  if (from === undefined) return
  if (childOf(node, 'wildcard_import') !== undefined) stars.push(from)
  for (const part of fields(node, 'name')) {
    const name = textOf(field(part, 'name') ?? part)
    const alias = field(part, 'alias')
    add(alias === undefined ? name : textOf(alias), { kind: 'import', node: part, from, imported: name })
  }
}

/** The dotted name of the module of `from … import`; undefined if it leads out of the package. */
export function resolveFrom(node: SyntaxNode, module: string, isPackage: boolean): string | undefined {
  const given = field(node, 'module_name')
  if (given === undefined) return undefined
  const text = textOf(given).replace(/\s/g, '')
  const [dots = ''] = /^\.*/.exec(text) ?? []
  if (dots === '') return text
  // The modules of the checked code itself are not looked up.
  if (module === '') return undefined
  const parts = module.split('.')
  const up = dots.length - (isPackage ? 1 : 0)
  if (up > parts.length) return undefined
  const base = parts.slice(0, parts.length - up)
  const rest = text.slice(dots.length)
  const path = [...base, ...(rest === '' ? [] : [rest])].join('.')
  return path === '' ? undefined : path
}

/** The names on the left side of assignments. */
export function assignedNames(statement: SyntaxNode): { readonly name: string; readonly node: SyntaxNode }[] {
  const found: { name: string; node: SyntaxNode }[] = []
  const read = (node: SyntaxNode) => {
    if (node.type === 'assignment' || node.type === 'augmented_assignment') {
      const left = field(node, 'left')
      const right = field(node, 'right')
      for (const target of left === undefined ? [] : [left, ...left.children]) {
        if (target.type === 'identifier') found.push({ name: textOf(target), node })
      }
      if (right?.type === 'assignment') read(right)
    } else if (statement.type === 'type_alias_statement') {
      const name = /^type\s+(\w+)/.exec(textOf(statement))?.[1]
      if (name !== undefined && found.length === 0) found.push({ name, node: statement })
    } else for (const child of node.children) read(child)
  }
  for (const child of statement.children) read(child)
  return found
}
