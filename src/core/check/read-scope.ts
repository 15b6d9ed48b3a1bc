import { TYPESCRIPT_KINDS } from '../declarations/typescript-kinds.ts'
import { childOf, field, has, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import type { Declared, DeclaredKind, ExportEntry, ModuleInfo, Scope } from './types.ts'

/** Reads what a module or the body of a namespace declares, imports and exports. */
export function readScope(body: SyntaxNode, module: ModuleInfo, parent?: Scope): Scope {
  return new ScopeReader(module, parent).read(body)
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

class ScopeReader {
  readonly #declarations = new Map<string, Declared[]>()
  readonly #exports: ExportEntry[] = []
  readonly #exportsAllOf: string[] = []
  readonly #ambient = new Map<string, Scope>()
  readonly #globals: Scope[] = []
  readonly #scope: Writable<Scope>

  constructor(module: ModuleInfo, parent: Scope | undefined) {
    this.#scope = {
      ...{ module, parent, declarations: this.#declarations, exports: this.#exports, exportsAllOf: this.#exportsAllOf },
      ...{ whole: undefined, isExplicit: false, isModule: false, ambient: this.#ambient, globals: this.#globals },
    }
  }

  read(body: SyntaxNode): Scope {
    for (const child of body.children) this.#readStatement(child, false)
    return this.#scope
  }

  #readStatement(node: SyntaxNode, isExported: boolean, asDefault = false): void {
    switch (node.type) {
      case 'import_statement':
        return void this.#readImport(node)
      case 'export_statement':
        return void this.#readExport(node)
      case 'ambient_declaration': {
        const block = childOf(node, 'statement_block')
        if (block !== undefined) this.#globals.push(readScope(block, this.#scope.module, this.#scope))
        else for (const child of node.children) this.#readStatement(child, isExported)
        return
      }
      // `global { … }` inside of `declare module`
      case 'statement_block':
        this.#globals.push(readScope(node, this.#scope.module, this.#scope))
        return
      case 'expression_statement':
        for (const child of node.children) if (child.type === 'internal_module') this.#readStatement(child, isExported)
        return
      case 'lexical_declaration':
      case 'variable_declaration':
        for (const child of node.children)
          if (child.type === 'variable_declarator') this.#readVariable(child, isExported)
        return
      case 'import_alias':
        return void this.#add('import-alias', textOf(childOf(node, 'identifier') ?? node), node, isExported)
      case 'module':
      case 'internal_module':
        return void this.#readNamespace(node, isExported)
      default: {
        const kind = TYPESCRIPT_KINDS[node.type]
        if (kind === undefined) return
        const name = nameOf(node)
        if (name !== undefined) this.#add(kind, name, node, isExported)
        else if (asDefault) this.#add(kind, 'default', node, isExported)
      }
    }
  }

  #readVariable(node: SyntaxNode, isExported: boolean): void {
    const name = nameOf(node)
    if (name !== undefined) this.#add('variable', name, node, isExported)
  }

  #readNamespace(node: SyntaxNode, isExported: boolean): void {
    const name = field(node, 'name')
    const body = field(node, 'body')
    if (name === undefined || body === undefined) return
    const inner = readScope(body, this.#scope.module, this.#scope)
    if (name.type === 'string') return void this.#addAmbient(unquote(name), inner)
    // `namespace A.B {}` is B inside of A.
    const [first = '', ...rest] = textOf(name).split('.')
    if (rest.length === 0) this.#add('namespace', first, node, isExported, { body: inner })
  }

  #addAmbient(name: string, scope: Scope): void {
    if (!this.#ambient.has(name)) this.#ambient.set(name, scope)
    else this.#ambient.set(`${name}#${this.#ambient.size}`, scope)
  }

  #add(kind: DeclaredKind, name: string, node: SyntaxNode, isExported: boolean, more: Partial<Declared> = {}): void {
    const declared = { kind, name, node, scope: this.#scope, isExported, ...more }
    const group = this.#declarations.get(name)
    if (group === undefined) this.#declarations.set(name, [declared])
    else group.push(declared)
  }

  #readImport(node: SyntaxNode): void {
    this.#scope.isModule = true
    const required = childOf(node, 'import_require_clause')
    const source = field(required ?? node, 'source')
    if (source === undefined) return
    const from = unquote(source)
    const add = (name: string, imported: string) => this.#add('import', name, node, false, { from, imported })
    if (required !== undefined) {
      const name = childOf(required, 'identifier')
      if (name !== undefined) add(textOf(name), '*')
      return
    }
    for (const clause of childOf(node, 'import_clause')?.children ?? []) {
      if (clause.type === 'identifier') add(textOf(clause), 'default')
      else if (clause.type === 'namespace_import') add(textOf(childOf(clause, 'identifier') ?? clause), '*')
      else if (clause.type === 'named_imports')
        for (const { name, alias } of readSpecifiers(clause)) add(alias ?? name, name)
    }
  }

  #readExport(node: SyntaxNode): void {
    const source = field(node, 'source')
    const from = source === undefined ? undefined : unquote(source)
    const isDefault = has(node, 'default')
    const declaration = field(node, 'declaration')
    // `export as namespace X` names a global variable.
    if (has(node, 'namespace') && has(node, 'as') && declaration === undefined) return
    this.#scope.isModule = true
    if (declaration !== undefined) {
      if (!isDefault) return void this.#readStatement(declaration, true)
      this.#readStatement(declaration, false, true)
      const name = field(declaration, 'name')
      this.#exports.push({ name: 'default', local: name === undefined ? 'default' : textOf(name), from: undefined })
      return
    }
    // Without such statements, declarations are exported even if they are not marked.
    this.#scope.isExplicit = true
    const clause = childOf(node, 'export_clause')
    for (const { name, alias } of clause === undefined ? [] : readSpecifiers(clause)) {
      this.#exports.push({ name: alias ?? name, local: name, from })
    }
    const space = childOf(node, 'namespace_export')
    if (space !== undefined && from !== undefined) {
      const [name] = named(space)
      this.#exports.push({ name: name === undefined ? '' : unquote(name), local: '*', from })
    } else if (has(node, '*') && from !== undefined) this.#exportsAllOf.push(from)
    else if (has(node, '=')) this.#scope.whole = named(node)[0]
    else if (isDefault) {
      const value = field(node, 'value') ?? named(node)[0]
      if (value?.type === 'identifier') {
        this.#exports.push({ name: 'default', local: textOf(value), from: undefined })
      } else if (value !== undefined) {
        this.#readStatement(value, false, true)
        this.#exports.push({ name: 'default', local: 'default', from: undefined, value })
      }
    }
  }
}

/** The name of a declaration; undefined if it has none, or is a pattern. */
function nameOf(node: SyntaxNode): string | undefined {
  if (node.declaredName !== undefined) return node.declaredName
  const name = field(node, 'name')
  return name === undefined || name.type.endsWith('_pattern') ? undefined : textOf(name)
}

/** The names in `{ a, b as c }` of an import or export. */
export function readSpecifiers(clause: SyntaxNode): { name: string; alias: string | undefined; node: SyntaxNode }[] {
  return clause.children.flatMap((node) => {
    const name = field(node, 'name')
    const alias = field(node, 'alias')
    if (name === undefined) return []
    return [{ name: unquote(name), alias: alias === undefined ? undefined : unquote(alias), node }]
  })
}
