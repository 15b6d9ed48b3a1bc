import { ExpressionChecker } from './code-checker.ts'
import { CodeImports, type PackageProblem } from './code-imports.ts'
import { CodeScope } from './code-scope.ts'
import type { Finding } from './finding.ts'
import { packageNameOf } from './module-graph.ts'
import { readScope, readSpecifiers } from './read-scope.ts'
import type { TypeResolver } from './resolver.ts'
import { childOf, field, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import { FREE, lost, type ModuleInfo, type Type } from './types.ts'

/** Code to check, and where it is. */
export interface CheckedModule {
  readonly root: SyntaxNode
  /** Absolute path of the file, with slashes. Packages are looked for from its folder. */
  readonly path: string
  readonly problemOf: PackageProblem
  /** Code before it on the same page. Its imports count here too. @default none */
  readonly earlier?: readonly SyntaxNode[]
}

/** Looks up each import, member, option and call of a module. Findings are in the order of the code. */
export function checkTypeScript(
  resolver: TypeResolver,
  { root, path, problemOf, earlier = [] }: CheckedModule,
): Finding[] {
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  const code = { name: '', version: '', folder: '', isEsm: true, hasEsm: true, isEsmOnly: true }
  const module: ModuleInfo = { path, root, package: code, inlineImports: new Map(), isCode: true }
  const types = readScope(root, module)
  resolver.start(types)
  const imports = new CodeImports(resolver, module, problemOf, report)
  // All modules are opened first, because they can add members to each other.
  for (const [text, specifier = ''] of root.source.matchAll(SPECIFIERS)) {
    const opened = imports.open(specifier, text.startsWith('require'))
    if (opened !== undefined && 'why' in opened && opened.verdict === 'unknown') {
      resolver.missingPackages.add(packageNameOf(specifier))
    }
  }
  const assigned = findAssigned(root)
  const expressions = new ExpressionChecker(resolver, imports, types, assigned.members, report)
  new CodeWalker(imports, expressions, assigned.names).run(root, earlier)
  return findings.sort((a, b) => a.line - b.line || a.column - b.column)
}

const SPECIFIERS = /(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"\n]+)['"]/g

/** Names that are assigned again after their declaration, and members that are assigned to. */
function findAssigned(root: SyntaxNode): Readonly<Record<'names' | 'members', ReadonlySet<string>>> {
  const names = new Set<string>()
  const members = new Set<string>()
  const walk = (node: SyntaxNode) => {
    const target = /^(?:augmented_)?assignment_expression$/.test(node.type) ? field(node, 'left') : undefined
    const found = target ?? (node.type === 'update_expression' ? field(node, 'argument') : undefined)
    if (found?.type === 'identifier') names.add(textOf(found))
    const member = found?.type === 'member_expression' ? field(found, 'property') : undefined
    if (member !== undefined) members.add(textOf(member))
    node.children.forEach(walk)
  }
  walk(root)
  return { names, members }
}

const SCOPES = /^(?:program|statement_block|for_in_statement|for_statement|catch_clause|class_body|switch_body)$/
const FUNCTIONS =
  /^(?:arrow_function|function_expression|function_declaration|generator_function|generator_function_declaration|method_definition)$/
const EXPRESSIONS =
  /^(?:member_expression|call_expression|new_expression|await_expression|binary_expression|ternary_expression|as_expression|satisfies_expression)$/

/** Walks through the code: declares the names of each block, then looks at its expressions. */
class CodeWalker {
  readonly #imports: CodeImports
  readonly #expressions: ExpressionChecker
  readonly #assigned: ReadonlySet<string>

  constructor(imports: CodeImports, expressions: ExpressionChecker, assigned: ReadonlySet<string>) {
    this.#imports = imports
    this.#expressions = expressions
    this.#assigned = assigned
  }

  run(root: SyntaxNode, earlier: readonly SyntaxNode[]): void {
    let scope = new CodeScope()
    for (const one of earlier) {
      // An import hides those of the same name in code before it.
      scope = new CodeScope(scope)
      this.#declareEarlier(one, scope)
    }
    this.#visit(root, scope)
  }

  /** Declares what earlier code imports. */
  #declareEarlier(root: SyntaxNode, scope: CodeScope): void {
    for (const node of root.children) {
      if (node.type === 'import_statement') this.#declareImports(node, scope)
      for (const one of node.children) {
        const value = one.type === 'variable_declarator' ? field(one, 'value') : undefined
        const called = value?.type === 'call_expression' ? field(value, 'function') : undefined
        if (called !== undefined && textOf(called) === 'require') this.#declareVariable(one, scope)
      }
    }
    this.#destructured.length = 0
  }

  #visit(node: SyntaxNode, outer: CodeScope): void {
    let scope = outer
    if (SCOPES.test(node.type)) {
      scope = new CodeScope(outer)
      this.#hoist(node, scope)
    } else if (FUNCTIONS.test(node.type)) {
      scope = new CodeScope(outer)
      this.#declareParameters(node, scope)
    }
    if (node.type === 'import_statement') return void this.#visitImport(node)
    if (node.type === 'export_statement') this.#visitExport(node)
    else if (node.type === 'variable_declarator') this.#visitDeclarator(node, scope)
    else if (EXPRESSIONS.test(node.type)) this.#expressions.typeOf(node, scope)
    for (const child of node.children) this.#visit(child, scope)
  }

  /** Declares the names of a block before its statements are read. */
  #hoist(block: SyntaxNode, scope: CodeScope): void {
    const direct = block.children.flatMap((child) => {
      const declaration = child.type === 'export_statement' ? field(child, 'declaration') : undefined
      return declaration === undefined ? [child] : [declaration]
    })
    for (const node of direct) {
      const name = field(node, 'name')
      if (node.type === 'import_statement') this.#declareImports(node, scope)
      else if (/^(?:lexical|variable)_declaration$/.test(node.type)) {
        for (const one of node.children) if (one.type === 'variable_declarator') this.#declareVariable(one, scope)
      } else if (/(?:function|class)(?:_declaration)?$/.test(node.type) && name !== undefined) {
        scope.declare(textOf(name), () => FREE)
      }
    }
    if (block.type === 'for_in_statement') this.#declareLoop(block, scope)
    const caught = block.type === 'catch_clause' ? field(block, 'parameter') : undefined
    if (caught !== undefined) this.#bind(caught, () => FREE, scope)
  }

  #declareImports(node: SyntaxNode, scope: CodeScope): void {
    const source = field(node, 'source')
    const clause = childOf(node, 'import_clause')
    if (source === undefined || clause === undefined) return
    const from = unquote(source)
    for (const part of clause.children) {
      if (part.type === 'identifier') scope.declare(textOf(part), () => this.#imports.typeOf(from, 'default'))
      else if (part.type === 'namespace_import') {
        scope.declare(textOf(childOf(part, 'identifier') ?? part), () => this.#imports.typeOf(from, '*'))
      } else {
        for (const { name, alias } of readSpecifiers(part)) {
          scope.declare(alias ?? name, () => this.#imports.typeOf(from, name))
        }
      }
    }
  }

  #declareVariable(node: SyntaxNode, scope: CodeScope): void {
    const name = field(node, 'name')
    const annotation = field(node, 'type')
    const value = field(node, 'value')
    if (name === undefined) return
    const type = (): Type => {
      if (annotation !== undefined) return this.#expressions.annotated(annotation)
      return value === undefined ? FREE : this.#expressions.typeOf(value, scope)
    }
    this.#bind(name, type, scope)
  }

  /** The loop variable of `for (const a of list)`. */
  #declareLoop(node: SyntaxNode, scope: CodeScope): void {
    const left = field(node, 'left')
    const right = field(node, 'right')
    if (left === undefined || right === undefined || field(node, 'kind') === undefined) return
    this.#bind(
      left,
      () => {
        const list = this.#expressions.typeOf(right, scope)
        if (list.kind === 'array') return list.item()
        return list.kind === 'lost' ? list : FREE
      },
      scope,
    )
  }

  #declareParameters(node: SyntaxNode, scope: CodeScope): void {
    const list = field(node, 'parameters')
    const single = field(node, 'parameter')
    const parameters = single === undefined ? (list === undefined ? [] : named(list)) : [single]
    parameters.forEach((parameter, i) => {
      const annotation = field(parameter, 'type')
      const pattern = field(parameter, 'pattern') ?? parameter
      const type = (): Type =>
        annotation === undefined
          ? this.#expressions.typeOfParameter(node, parameters.length, i)
          : this.#expressions.annotated(annotation)
      this.#bind(pattern, pattern.type === 'rest_pattern' ? () => FREE : type, scope)
      if (annotation === undefined && pattern.type === 'identifier') scope.noteReceived(textOf(pattern))
    })
    const own = field(node, 'name')
    if (node.type === 'function_expression' && own !== undefined) scope.declare(textOf(own), () => FREE)
  }

  /** Declares the names of a pattern. */
  #bind(pattern: SyntaxNode, type: () => Type, scope: CodeScope): void {
    switch (pattern.type) {
      case 'identifier':
      case 'shorthand_property_identifier_pattern': {
        const name = textOf(pattern)
        scope.declare(name, this.#assigned.has(name) ? () => lost('it is assigned again') : type)
        return
      }
      case 'object_pattern':
        for (const part of pattern.children) this.#bindProperty(part, type, scope)
        return
      case 'array_pattern':
        for (const part of named(pattern)) {
          this.#bind(part, () => itemOf(type()), scope)
        }
        return
      case 'assignment_pattern':
      case 'object_assignment_pattern': {
        const left = field(pattern, 'left')
        if (left !== undefined) this.#bind(left, type, scope)
        return
      }
      case 'rest_pattern':
        for (const part of named(pattern)) this.#bind(part, () => FREE, scope)
    }
  }

  #bindProperty(part: SyntaxNode, type: () => Type, scope: CodeScope): void {
    if (part.type === 'rest_pattern') return void this.#bind(part, type, scope)
    const target = part.type === 'object_assignment_pattern' ? (field(part, 'left') ?? part) : part
    const key = field(target, 'key') ?? target
    if (!/^(?:property_identifier|shorthand_property_identifier_pattern)$/.test(key.type)) return
    const name = textOf(key)
    let known: Type | undefined
    const member = (): Type => {
      known ??= this.#expressions.typeOfMember(type(), name, key, name)
      return known
    }
    this.#bind(field(target, 'value') ?? target, member, scope)
    this.#destructured.push(member)
  }

  readonly #destructured: (() => Type)[] = []

  #visitDeclarator(node: SyntaxNode, scope: CodeScope): void {
    const value = field(node, 'value')
    const annotation = field(node, 'type')
    if (value === undefined) return
    if (annotation !== undefined) this.#expressions.give(value, this.#expressions.annotated(annotation), scope)
    this.#expressions.typeOf(value, scope)
    // Members that are taken out are looked up even if nothing uses them.
    for (const look of this.#destructured.splice(0)) look()
  }

  #visitImport(node: SyntaxNode): void {
    const source = field(node, 'source')
    const clause = childOf(node, 'import_clause')
    if (source === undefined) return
    const from = unquote(source)
    if (clause === undefined) return void this.#imports.check(from, '*', source)
    for (const part of clause.children) {
      if (part.type === 'identifier') this.#imports.check(from, 'default', part)
      else if (part.type === 'namespace_import') this.#imports.check(from, '*', part)
      else for (const { name, node: one } of readSpecifiers(part)) this.#imports.check(from, name, one)
    }
  }

  #visitExport(node: SyntaxNode): void {
    const source = field(node, 'source')
    if (source === undefined) return
    const clause = childOf(node, 'export_clause')
    if (clause === undefined) return void this.#imports.check(unquote(source), '*', source)
    for (const { name, node: one } of readSpecifiers(clause)) this.#imports.check(unquote(source), name, one)
  }
}

function itemOf(type: Type): Type {
  if (type.kind === 'array') return type.item()
  return type.kind === 'lost' ? type : FREE
}
