import { isNodeModule } from './module-graph.ts'
import { named, type SyntaxNode, textOf } from './syntax-tree.ts'
import type { Declared, Entity, Resolver, Scope, Type } from './types.ts'
import { lost, OUTSIDE } from './types.ts'

/** How many modules a name may be exported through. */
const MAX_STEPS = 40

/** Finds a name inside of a scope and its parents: a declaration, or what an import stands for. */
export function findName(resolver: Resolver, scope: Scope, name: string, step = 0): Entity | 'unknown' | undefined {
  const inline = scope.module.inlineImports.get(name)
  if (inline !== undefined) {
    const target = resolver.openModule(inline, scope.module)
    return target === undefined ? 'unknown' : { kind: 'module', scope: target }
  }
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const found = at.declarations.get(name) ?? findInSiblings(resolver, at, name)
    if (found !== undefined) return follow(resolver, found, step)
  }
  return undefined
}

/** The bodies of `declare module 'name'` see what the others of the same name declare. */
function findInSiblings(resolver: Resolver, scope: Scope, name: string): readonly Declared[] | undefined {
  for (const sibling of resolver.siblingsOf(scope)) {
    const found = sibling.declarations.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** Follows imports to the declarations they stand for. */
function follow(resolver: Resolver, found: readonly Declared[], step: number): Entity | 'unknown' {
  const [first] = found
  if (first === undefined || step > MAX_STEPS || resolver.isExhausted()) return 'unknown'
  const own = found.filter(({ kind }) => kind !== 'import' && kind !== 'import-alias')
  if (own.length > 0) return { kind: 'declared', declarations: own }
  if (first.kind === 'import-alias') return followAlias(resolver, first, step)
  const target = resolver.openModule(first.from ?? '', first.scope.module)
  // Without the types of Node, its classes are like those of the language.
  if (target === undefined) return isNodeModule(first.from ?? '') ? { kind: 'value', type: OUTSIDE } : 'unknown'
  return importFrom(resolver, target, first.imported ?? '*', step + 1)
}

/** What `import name from module` stands for. */
export function importFrom(resolver: Resolver, target: Scope, name: string, step = 0): Entity | 'unknown' {
  if (name === '*') return wholeOf(resolver, target, step) ?? { kind: 'module', scope: target }
  const found = findExport(resolver, target, name, step)
  if (found !== 'missing') return found
  // A CommonJS module is its own default export.
  const isWhole = name === 'default' && !target.module.package.isEsm
  return isWhole ? (wholeOf(resolver, target, step) ?? { kind: 'module', scope: target }) : 'unknown'
}

/** What `export = …` exports; undefined if the module has none. */
export function wholeOf(resolver: Resolver, scope: Scope, step = 0): Entity | 'unknown' | undefined {
  const { whole } = scope
  if (whole === undefined) return undefined
  return findPath(resolver, scope, whole, step)
}

/** `import A = B.C` */
function followAlias(resolver: Resolver, { node, scope }: Declared, step: number): Entity | 'unknown' {
  const target = named(node)[1]
  return target === undefined ? 'unknown' : findPath(resolver, scope, target, step + 1)
}

/** Finds `a.b.c` as names of namespaces and modules. */
export function findPath(resolver: Resolver, scope: Scope, node: SyntaxNode, step = 0): Entity | 'unknown' {
  const text = textOf(node)
  if (!/^[\w$]+(?:\s*\.\s*[\w$]+)*$/.test(text)) return 'unknown'
  const [first = '', ...rest] = text.split(/(?<!\s)\s*\.\s*/)
  const local = findName(resolver, scope, first, step)
  // Before a dot only a namespace counts, not a type of that name.
  const isType = rest.length > 0 && isTypeOnly(local)
  const found = isType ? resolver.findGlobal(first) : (local ?? resolver.findName(scope, first))
  let entity: Entity | 'unknown' = found ?? 'unknown'
  for (const name of rest) {
    if (entity === 'unknown') return entity
    entity = findInside(resolver, entity, name, step)
  }
  return entity
}

function isTypeOnly(entity: Entity | 'unknown' | undefined): boolean {
  if (entity === undefined || entity === 'unknown' || entity.kind !== 'declared') return false
  return entity.declarations.every(({ kind }) => kind === 'interface' || kind === 'type')
}

/** Finds a name in a namespace or module. */
function findInside(resolver: Resolver, entity: Entity, name: string, step: number): Entity | 'unknown' {
  if (entity.kind === 'value') return valueEntity(resolver, entity.type, name)
  const scopes =
    entity.kind === 'module'
      ? [entity.scope]
      : entity.declarations.flatMap(({ body }) => (body === undefined ? [] : [body]))
  for (const scope of scopes) {
    const found = findExport(resolver, scope, name, step + 1)
    if (found !== 'missing') return found
  }
  return valueEntity(resolver, resolver.valueOf(entity), name)
}

function valueEntity(resolver: Resolver, type: Type, name: string): Entity | 'unknown' {
  const found = resolver.lookUp(type, name)
  if (found.state !== 'found') return 'unknown'
  return found.entity ?? { kind: 'value', type: found.type(), at: found.at }
}

/** Finds a name that a scope exports. */
export function findExport(
  resolver: Resolver,
  scope: Scope,
  name: string,
  step = 0,
  seen: Set<Scope> = new Set(),
): Entity | 'unknown' | 'missing' {
  if (seen.has(scope)) return 'missing'
  if (step > MAX_STEPS || resolver.isExhausted()) return 'unknown'
  seen.add(scope)
  for (const entry of scope.exports) {
    if (entry.name !== name) continue
    if (entry.from === undefined) {
      const local = findName(resolver, scope, entry.local, step + 1)
      if (local !== undefined) return local
      return entry.value === undefined ? 'unknown' : { kind: 'value', type: lost('its value is not declared') }
    }
    const target = resolver.openModule(entry.from, scope.module)
    return target === undefined ? 'unknown' : importFrom(resolver, target, entry.local, step + 1)
  }
  const declared = scope.declarations.get(name)
  const exported = scope.isExplicit ? declared?.filter(({ isExported }) => isExported) : declared
  if (exported !== undefined && exported.length > 0) return follow(resolver, exported, step)
  let isCertain = true
  for (const from of name === 'default' ? [] : scope.exportsAllOf) {
    const target = resolver.openModule(from, scope.module)
    const found = target === undefined ? 'unknown' : findExport(resolver, target, name, step + 1, seen)
    if (found === 'unknown') isCertain = false
    else if (found !== 'missing') return found
  }
  const whole = wholeOf(resolver, scope, step + 1)
  if (whole === 'unknown') return 'unknown'
  if (whole !== undefined) return name === 'default' ? whole : findInWhole(resolver, whole, name, step)
  for (const sibling of resolver.siblingsOf(scope)) {
    const found = findExport(resolver, sibling, name, step + 1, seen)
    if (found !== 'missing') return found
  }
  return isCertain ? 'missing' : 'unknown'
}

/** A name of a module that is one value: `export = lamp` with `namespace lamp`. */
function findInWhole(resolver: Resolver, whole: Entity, name: string, step: number): Entity | 'unknown' | 'missing' {
  if (whole.kind === 'declared') {
    for (const { body } of whole.declarations) {
      const found = body === undefined ? 'missing' : findExport(resolver, body, name, step + 1)
      if (found !== 'missing') return found
    }
  }
  const type = resolver.valueOf(whole)
  const found = resolver.lookUp(type, name)
  if (found.state === 'found') return { kind: 'value', type: found.type(), at: found.at }
  return found.state === 'missing' ? 'missing' : 'unknown'
}

/** The names that a scope exports, as far as they are known. */
export function listExports(resolver: Resolver, scope: Scope, seen: Set<Scope> = new Set()): string[] {
  if (seen.has(scope) || seen.size > MAX_LISTED) return []
  seen.add(scope)
  const own = scope.exports.map(({ name }) => name)
  const declared = [...scope.declarations].flatMap(([name, all]) =>
    !scope.isExplicit || all.some(({ isExported }) => isExported) ? [name] : [],
  )
  const others = scope.exportsAllOf.flatMap((from) => {
    const target = resolver.openModule(from, scope.module)
    return target === undefined ? [] : listExports(resolver, target, seen)
  })
  const whole = wholeOf(resolver, scope)
  const inner = whole === undefined || whole === 'unknown' ? [] : resolver.namesOf(resolver.valueOf(whole))
  return [...new Set([...own, ...declared, ...others, ...inner])]
}

const MAX_LISTED = 500
