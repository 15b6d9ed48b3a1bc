import { findExport, importFrom } from './find-names.ts'
import type { Finding, PlaceKind } from './finding.ts'
import { locate, locateEntity } from './look-up.ts'
import { isNodeModule, packageNameOf } from './module-graph.ts'
import { findNearestName } from './nearest-name.ts'
import type { TypeResolver } from './resolver.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import { FREE, lost, type ModuleInfo, type Scope, type Type } from './types.ts'

/** What is known about a package before its files are read: its locked version, and why it cannot be used. */
export type PackageProblem = (name: string, installedVersion: string | undefined) => string | undefined

/** A module whose declarations cannot be read, and why. It is missing if the installed package certainly lacks it. */
export interface Unopened {
  readonly verdict: 'missing' | 'unknown'
  readonly why: string
}

/** Resolves the imports of the checked code. */
export class CodeImports {
  readonly #resolver: TypeResolver
  readonly #module: ModuleInfo
  readonly #problemOf: PackageProblem
  readonly #report: (finding: Finding) => void
  readonly #types = new Map<string, Type>()

  constructor(
    resolver: TypeResolver,
    module: ModuleInfo,
    problemOf: PackageProblem,
    report: (finding: Finding) => void,
  ) {
    this.#resolver = resolver
    this.#module = module
    this.#problemOf = problemOf
    this.#report = report
  }

  /** Opens the module of an import: its declarations, or why there are none; undefined for modules of no package. */
  open(specifier: string, isRequired: boolean = false): Scope | Unopened | undefined {
    if (!isPackage(specifier)) return undefined
    const name = packageNameOf(specifier)
    const { graph } = this.#resolver
    const folder = this.#module.path.slice(0, this.#module.path.lastIndexOf('/') + 1)
    const info = graph.findPackage(specifier, folder)
    const types = graph.findPackage(`@types/${name.replace(/^@([^/]+)\//, '$1__')}`, folder)
    const problem = this.#problemOf(name, info?.version)
    if (problem !== undefined) return { verdict: 'unknown', why: problem }
    if (info === undefined && types === undefined) return { verdict: 'unknown', why: `${name} is not installed` }
    const scope = graph.open(specifier, this.#module, isRequired)
    if (scope !== undefined) return scope
    if (info !== undefined && graph.lacksModule(specifier, info)) {
      return { verdict: 'missing', why: `${name} ${info.version} has no module ${specifier}` }
    }
    return { verdict: 'unknown', why: `${name} ${info?.version ?? ''} has no type declarations`.replace('  ', ' ') }
  }

  /** Reports one imported name. */
  check(specifier: string, name: string, node: SyntaxNode, isRequired: boolean = false): void {
    const scope = this.open(specifier, isRequired)
    if (scope === undefined) return
    const label = name === '*' || name === 'default' ? specifier : name
    if ('why' in scope) return void this.#add(specifier, label, node, scope.verdict, { why: scope.why })
    const at = locate(scope.module.root, scope)
    if (name === '*') return void this.#add(specifier, label, node, 'exists', { at })
    const found = findExport(this.#resolver, scope, name)
    if (found === 'unknown') {
      return void this.#add(specifier, label, node, 'unknown', {
        at,
        why: 'it may come from a module that is not installed',
      })
    }
    if (found !== 'missing') return void this.#add(specifier, label, node, 'exists', { at: locateEntity(found) ?? at })
    // A CommonJS module is its own default export.
    if (name === 'default' && !scope.module.package.hasEsm)
      return void this.#add(specifier, label, node, 'exists', { at })
    const names = this.#resolver.namesOf({ kind: 'module', scope })
    const nearest = findNearestName(name, names)
    const why = name === 'default' ? `${specifier} has no default export` : `${specifier} does not export ${name}`
    this.#add(specifier, label, node, 'missing', { at, nearest, why })
  }

  /** The type of an imported name. The same name has the same type. */
  typeOf(specifier: string, name: string): Type {
    const key = `${name} ${specifier}`
    const type = this.#types.get(key) ?? this.#evaluate(specifier, name)
    this.#types.set(key, type)
    return type
  }

  #evaluate(specifier: string, name: string): Type {
    const scope = this.open(specifier)
    if (scope === undefined) return FREE
    if ('why' in scope) return lost(scope.why)
    if (name === 'default' && findExport(this.#resolver, scope, 'default') === 'missing') {
      return scope.module.package.hasEsm ? lost(`${specifier} has no default export`) : this.#whole(scope)
    }
    if (name === '*') return this.#whole(scope)
    const entity = importFrom(this.#resolver, scope, name)
    return entity === 'unknown' ? lost('it is not exported') : this.#resolver.valueOf(entity)
  }

  /** The type of `require('…')`: some declarations have a default export where the module is that value. */
  typeOfRequired(specifier: string): Type {
    const scope = this.open(specifier, true)
    if (scope === undefined) return FREE
    if ('why' in scope) return lost(scope.why)
    const whole = this.#whole(scope)
    if (whole.kind !== 'module') return whole
    const found = findExport(this.#resolver, scope, 'default')
    if (found === 'missing' || scope.module.package.isEsmOnly) return whole
    // Declarations of the ECMAScript module say little about what `require` returns.
    if (scope.module.path.endsWith('.d.mts')) return { kind: 'open', base: whole }
    return {
      kind: 'union',
      parts: [whole, found === 'unknown' ? lost('default export') : this.#resolver.valueOf(found)],
    }
  }

  #whole(scope: Scope): Type {
    return this.#resolver.valueOf({ kind: 'module', scope })
  }

  #add(
    module: string,
    name: string,
    node: SyntaxNode,
    verdict: Finding['verdict'],
    more: Partial<Pick<Finding, 'at' | 'nearest' | 'why'>>,
  ): void {
    const kind: PlaceKind = 'import'
    const place = { kind, name, line: node.row + 1, column: node.column + 1, verdict, module }
    this.#report({ ...place, at: more.at, nearest: more.nearest, why: more.why ?? '' })
  }
}

/** Whether a specifier names a package: no file of the project, no module of Node, no alias. */
function isPackage(specifier: string): boolean {
  return /^(?:@[\w.-]+\/)?[a-z0-9][\w.-]*(?:\/|$)/i.test(specifier) && !isNodeModule(specifier)
}
