import type { Finding, PlaceKind } from './finding.ts'
import { findNearestName } from './nearest-name.ts'
import { checkArguments } from './python-arguments.ts'
import type { PythonModules } from './python-modules.ts'
import { assignedNames, resolveFrom } from './python-scope.ts'
import { FREE_PYTHON, locatePython, type PythonLookup, PythonResolver, type PythonType } from './python-types.ts'
import { childOf, field, fields, type SyntaxNode, textOf } from './syntax-tree.ts'

/** Tells why a module cannot be looked up; undefined for modules of Python and of the project. */
export type ModuleProblem = (module: string) => string | undefined

/** Looks up each import, attribute, keyword argument and call of Python code. Findings are in the order of the code. */
export function checkPython(
  modules: PythonModules,
  root: SyntaxNode,
  problemOf: ModuleProblem,
  earlier: readonly SyntaxNode[] = [],
): Finding[] {
  const checker = new PythonChecker(modules, problemOf)
  return checker.run(root, earlier).sort((a, b) => a.line - b.line || a.column - b.column)
}

type Names = Map<string, () => PythonType>

class PythonChecker {
  readonly #resolver: PythonResolver
  readonly #problemOf: ModuleProblem
  readonly #findings: Finding[] = []
  readonly #known = new Map<SyntaxNode, PythonType>()
  #source = ''

  constructor(modules: PythonModules, problemOf: ModuleProblem) {
    this.#resolver = new PythonResolver(modules)
    this.#problemOf = problemOf
  }

  run(root: SyntaxNode, earlier: readonly SyntaxNode[]): Finding[] {
    const names: Names = new Map()
    for (const one of earlier) this.#declare(one, [names], true)
    this.#source = root.source
    this.#visit(root, [names])
    return this.#findings
  }

  /** Visits a node. `scopes` are the names of the blocks around it, the innermost first. */
  #visit(node: SyntaxNode, scopes: readonly Names[]): void {
    let inner = scopes
    if (
      node.type === 'module' ||
      node.type === 'function_definition' ||
      node.type === 'lambda' ||
      node.type === 'class_definition'
    ) {
      inner = [new Map(), ...scopes]
      this.#declare(node, inner, false)
    }
    if (node.type === 'import_statement') this.#checkImport(node)
    else if (node.type === 'import_from_statement') this.#checkFrom(node)
    else if (/^(?:attribute|call)$/.test(node.type)) this.#typeOf(node, inner)
    for (const child of node.children) this.#visit(child, inner)
  }

  /** Declares the names of a module, function or class. A name that is assigned twice can be anything. */
  #declare(block: SyntaxNode, scopes: readonly Names[], isImportOnly: boolean): void {
    const names = scopes[0] ?? new Map()
    const add = (name: string, type: () => PythonType) => names.set(name, names.has(name) ? () => FREE_PYTHON : type)
    const read = (node: SyntaxNode) => {
      if (node.type === 'import_statement') this.#declareImport(node, add)
      else if (node.type === 'import_from_statement') this.#declareFrom(node, add)
      if (isImportOnly) return node.children.forEach(read)
      if (node.type === 'expression_statement' || node.type === 'named_expression')
        this.#declareAssigned(node, add, scopes)
      else if (node.type === 'with_item') this.#declareWith(node, add, scopes)
      else if (/^(?:for_statement|for_in_clause|except_clause|global_statement|nonlocal_statement)$/.test(node.type)) {
        for (const name of textOf(node).split(':')[0]?.match(/\w+/g) ?? [])
          if (!names.has(name)) this.#shadow(name, node, add)
      } else if (/^(?:function|class)_definition$/.test(node.type) && node !== block) {
        add(textOf(field(node, 'name') ?? node), () => FREE_PYTHON)
        return
      } else if (node.type === 'lambda' && node !== block) return
      node.children.forEach(read)
    }
    const parameters = field(block, 'parameters')
    for (const name of parameters === undefined ? [] : (textOf(parameters).match(/\w+/g) ?? []))
      names.set(name, () => FREE_PYTHON)
    block.children.forEach(read)
  }

  /** A loop variable or caught exception hides a name of the same spelling. */
  #shadow(name: string, node: SyntaxNode, add: (name: string, type: () => PythonType) => void): void {
    const target = field(node, 'left') ?? field(node, 'alias')
    const text =
      target === undefined
        ? node.type.endsWith('_statement') && !node.type.startsWith('for')
          ? textOf(node)
          : ''
        : textOf(target)
    if (new RegExp(`\\b${name}\\b`).test(text)) add(name, () => FREE_PYTHON)
  }

  #declareImport(node: SyntaxNode, add: (name: string, type: () => PythonType) => void): void {
    for (const part of fields(node, 'name')) {
      const alias = field(part, 'alias')
      const path = textOf(field(part, 'name') ?? part)
      const [first = ''] = path.split('.')
      const target = alias === undefined ? first : path
      const label = alias === undefined ? first : textOf(alias)
      const type = () => this.#module(target)
      // `import a.b` and `import a.c` are the same name.
      add(label, type)
    }
  }

  #declareFrom(node: SyntaxNode, add: (name: string, type: () => PythonType) => void): void {
    const from = resolveFrom(node, '', false)
    for (const part of fields(node, 'name')) {
      const name = textOf(field(part, 'name') ?? part)
      const alias = field(part, 'alias')
      add(alias === undefined ? name : textOf(alias), () => {
        const found = from === undefined ? undefined : this.#imported(from, name)
        return found?.state === 'found'
          ? found.type
          : found?.state === 'unknown'
            ? { kind: 'lost', why: found.why }
            : FREE_PYTHON
      })
    }
  }

  #declareAssigned(
    node: SyntaxNode,
    add: (name: string, type: () => PythonType) => void,
    scopes: readonly Names[],
  ): void {
    for (const { name, node: assignment } of assignedNames(node)) {
      const right = field(assignment, 'right')
      const left = field(assignment, 'left')
      const isSimple = left?.type === 'identifier' && right !== undefined && assignment.type === 'assignment'
      let isRunning = false
      add(name, () => {
        if (!isSimple || isRunning) return FREE_PYTHON
        isRunning = true
        const type = this.#typeOf(right, scopes)
        isRunning = false
        return type
      })
    }
  }

  /** `with a() as b`: most context managers return themselves, and say so in their annotation. */
  #declareWith(node: SyntaxNode, add: (name: string, type: () => PythonType) => void, scopes: readonly Names[]): void {
    const pattern = field(node, 'value')
    const alias = pattern?.type === 'as_pattern' ? field(pattern, 'alias') : undefined
    const [value] = pattern?.children ?? []
    if (alias === undefined || value === undefined) return
    add(textOf(alias), () => {
      const type = this.#typeOf(value, scopes)
      if (type.kind === 'lost') return type
      const enter = ['__enter__', '__aenter__'].map((name) => this.#resolver.lookUp(type, name))
      const found = enter.find((one) => one.state === 'found')
      if (found?.state !== 'found' || found.type.kind !== 'function') return FREE_PYTHON
      const result = this.#resolver.resultOf(found.type)
      const text = textOf(found.type.definitions.at(-1)?.node ?? node)
      return result.kind === 'free' && /return self\s*$/.test(text) && !/return (?!self\b)/.test(text) ? type : result
    })
  }

  #typeOf(node: SyntaxNode, scopes: readonly Names[]): PythonType {
    const known = this.#known.get(node)
    if (known !== undefined) return known
    this.#known.set(node, FREE_PYTHON)
    const type = this.#evaluate(node, scopes)
    this.#known.set(node, type)
    return type
  }

  #evaluate(node: SyntaxNode, scopes: readonly Names[]): PythonType {
    if (node.type === 'identifier') {
      const name = textOf(node)
      // Its type is narrower than the one that is known here.
      if (new RegExp(`\\b(?:isinstance|hasattr)\\(\\s*${name}\\b`).test(node.source)) return FREE_PYTHON
      return scopes.find((one) => one.has(name))?.get(name)?.() ?? FREE_PYTHON
    }
    if (node.type === 'await' || node.type === 'parenthesized_expression') {
      const value = node.children.find(({ type }) => /^[a-z]\w+$/.test(type) && type !== 'await')
      return value === undefined ? FREE_PYTHON : this.#typeOf(value, scopes)
    }
    const object = field(node, 'object')
    const attribute = field(node, 'attribute')
    if (node.type === 'attribute' && object !== undefined && attribute !== undefined) {
      const type = this.#typeOf(object, scopes)
      const found = this.#resolver.lookUp(type, textOf(attribute))
      this.#report(found, 'member', textOf(node), textOf(attribute), attribute, type)
      if (found.state === 'found') return found.type
      return found.state === 'outside'
        ? FREE_PYTHON
        : { kind: 'lost', why: found.state === 'unknown' ? found.why : `${textOf(node)} does not exist` }
    }
    const called = field(node, 'function')
    if (node.type !== 'call' || called === undefined) return FREE_PYTHON
    const type = this.#typeOf(called, scopes)
    const callees = this.#resolver.callees(type)
    if (callees !== undefined && node.source === this.#source) this.#findings.push(...checkArguments(node, callees))
    return type.kind === 'lost' ? type : this.#resolver.resultOf(type)
  }

  #module(name: string): PythonType {
    const problem = this.#problemOf(name)
    if (problem !== undefined) return { kind: 'lost', why: problem }
    const module = this.#resolver.load(name)
    return module === undefined ? FREE_PYTHON : { kind: 'module', module }
  }

  /** What `from module import name` gives; undefined for modules that are not looked up. */
  #imported(from: string, name: string): PythonLookup | undefined {
    const problem = this.#problemOf(from)
    if (problem !== undefined) return { state: 'unknown', why: problem }
    const module = this.#resolver.load(from)
    return module === undefined ? undefined : this.#resolver.inModule(module, name)
  }

  #checkImport(node: SyntaxNode): void {
    for (const part of fields(node, 'name')) {
      const name = textOf(field(part, 'name') ?? part)
      const type = this.#module(name)
      if (type.kind === 'lost') this.#add('import', name, part, 'unknown', { why: type.why })
      else if (type.kind === 'module')
        this.#add('import', name, part, 'exists', { at: locatePython(type.module.root, type.module) })
    }
  }

  #checkFrom(node: SyntaxNode): void {
    const from = resolveFrom(node, '', false)
    if (from === undefined || childOf(node, 'wildcard_import') !== undefined) return
    for (const part of fields(node, 'name')) {
      const name = textOf(field(part, 'name') ?? part)
      const found = this.#imported(from, name)
      const module = this.#resolver.load(from)
      if (found === undefined) continue
      this.#report(
        found,
        'import',
        name,
        name,
        part,
        module === undefined ? FREE_PYTHON : { kind: 'module', module },
        from,
      )
    }
  }

  #report(
    found: PythonLookup,
    kind: PlaceKind,
    label: string,
    name: string,
    node: SyntaxNode,
    type: PythonType,
    from = '',
  ): void {
    if (node.source !== this.#source || found.state === 'outside') return
    const shown = label.replace(/\s+/g, ' ').slice(-MAX_NAME_CHARS)
    if (found.state === 'found') this.#add(kind, shown, node, 'exists', { at: found.at })
    else if (found.state === 'unknown') this.#add(kind, shown, node, 'unknown', { why: found.why })
    else {
      const nearest = findNearestName(name, this.#resolver.namesOf(type))
      const at =
        type.kind === 'module'
          ? locatePython(type.module.root, type.module)
          : 'node' in type
            ? locatePython(type.node, type.module)
            : undefined
      const why = kind === 'import' ? `${from} does not have ${name}` : `no attribute ${name}`
      this.#add(kind, shown, node, 'missing', { at, nearest, why })
    }
  }

  #add(kind: PlaceKind, name: string, node: SyntaxNode, verdict: Finding['verdict'], more: Partial<Finding>): void {
    const place = { kind, name, line: node.row + 1, column: node.column + 1, verdict, module: null }
    this.#findings.push({ ...place, at: more.at, nearest: more.nearest, why: more.why ?? '' })
  }
}

const MAX_NAME_CHARS = 60
