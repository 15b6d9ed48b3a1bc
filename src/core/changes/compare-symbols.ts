import { escapeRegExp } from '../escape-reg-exp.ts'
import { groupBy } from '../group-by.ts'
import { compareUtf8 } from '../text/order.ts'
import type { Change } from './change.ts'
import { isInternal } from './internal-symbols.ts'
import { type ComparedModule, type ComparedSymbol, isPrivate, UNKNOWN_MODULE } from './read-symbols.ts'
import { essenceOf, listLostNames, parentsIn, withoutMembers } from './signature.ts'

/** Compares the names of two versions, module by module. */
export function compareSymbols(
  before: ReadonlyMap<string, ComparedModule>,
  after: ReadonlyMap<string, ComparedModule>,
): Change[] {
  const changes: Change[] = []
  const known = new Set<string>()
  const add = (change: Change) => {
    // The same names are often exported by several modules.
    const key = [change.kind, change.name, change.newName, change.before, change.after].join('\n')
    if (!known.has(key) && !isPrivate(change.name))
      changes.push(change.kind === 'removed' ? withLostMembers(change) : change)
    known.add(key)
  }
  const moves = findMoves(before, after)
  const withLostMembers = createLostMembers(before, after)
  const all = { old: listByOwnName(before), fresh: listByOwnName(after) }
  for (const old of sortModules(before)) {
    const fresh = after.get(old.name)
    if (fresh === undefined) {
      if (old.name !== UNKNOWN_MODULE) add(moduleChange('removed', old))
      for (const symbol of old.symbols.values()) {
        const target = moves.get(symbol)
        if (symbol.owner === null && target === undefined && !isKept(symbol, after))
          add(symbolChange('removed', symbol, undefined))
        else if (target !== undefined) add({ ...symbolChange('moved', symbol, target), newName: target.module })
      }
    } else for (const change of compareModule(old, fresh, moves, all)) add(change)
  }
  for (const fresh of sortModules(after)) {
    if (!before.has(fresh.name) && fresh.name !== UNKNOWN_MODULE) add(moduleChange('added', fresh))
  }
  return groupByNamespace(changes, after)
}

/** Names that are gone, or moved, together with the namespace around them are one change. */
function groupByNamespace(changes: readonly Change[], after: ReadonlyMap<string, ComparedModule>): Change[] {
  const modulesOf = new Map<string, Set<string>>()
  for (const { name: module, symbols } of after.values()) {
    for (const name of symbols.keys()) {
      for (const one of [name, ...outersOf(name)]) modulesOf.set(one, (modulesOf.get(one) ?? new Set()).add(module))
    }
  }
  const isGone = (name: string, target: string | null) => {
    return [...(modulesOf.get(name) ?? [])].every((module) => module === target)
  }
  const groups = new Map<string, { readonly name: string; readonly members: Change[] }>()
  for (const change of changes) {
    const { kind, subject, newName } = change
    const isLost = subject === 'symbol' && (kind === 'removed' || kind === 'moved')
    const name = (isLost ? outersOf(change.name).find((one) => isGone(one, newName)) : undefined) ?? change.name
    const key = isLost ? [kind, newName, name].join('\n') : groups.size.toString()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { name, members: [change] })
    else group.members.push(change)
  }
  return [...groups.values()].flatMap(({ name, members }) => {
    const [first] = members
    if (first === undefined || members.length === 1) return members
    const whole = members.find((one) => one.name === name) ?? {
      ...first,
      name,
      before: null,
      after: null,
      lostNames: [],
    }
    const inner = members.filter((one) => one.name !== name).map((one) => one.name.slice(name.length + 1))
    return [{ ...whole, lostNames: [...new Set([...whole.lostNames, ...inner])] }]
  })
}

/** `a.b.c` → `a`, `a.b` */
function outersOf(name: string): string[] {
  const parts = name.split('.')
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'))
}

/** Creates a function that adds the members of a removed symbol, unless a symbol of the newer version has a member of that name. */
function createLostMembers(
  before: ReadonlyMap<string, ComparedModule>,
  after: ReadonlyMap<string, ComparedModule>,
): (change: Change) => Change {
  const lastOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
  const kept = new Set([...after.values()].flatMap(({ symbols }) => [...symbols.keys()].map(lastOf)))
  const members = new Map<string, Set<string>>()
  for (const { symbols } of before.values()) {
    for (const { name, owner } of symbols.values()) {
      if (owner === null || kept.has(lastOf(name)) || isPrivate(name)) continue
      members.set(owner, (members.get(owner) ?? new Set()).add(lastOf(name)))
    }
  }
  return (change) => {
    const inSignature = change.before?.match(/(?<![\w$])[A-Za-z_$][\w$]*(?=\??:)/g) ?? []
    const isType = /^(?:type|interface|class)\b/.test(change.before ?? '')
    const named = isType ? inSignature.filter((name) => !kept.has(name) && name.length > 2) : []
    return { ...change, lostNames: [...new Set([...(members.get(change.name) ?? []), ...named])] }
  }
}

/** The module that the package is named after comes first. */
function sortModules(modules: ReadonlyMap<string, ComparedModule>): ComparedModule[] {
  const depthOf = (name: string) => name.split('/').length
  return [...modules.values()].sort((a, b) => depthOf(a.name) - depthOf(b.name) || compareUtf8(a.name, b.name))
}

function isKept({ name }: ComparedSymbol, after: ReadonlyMap<string, ComparedModule>): boolean {
  for (const { symbols } of after.values()) if (symbols.has(name)) return true
  return false
}

/** Symbols that only another module has in the newer version. */
function findMoves(
  before: ReadonlyMap<string, ComparedModule>,
  after: ReadonlyMap<string, ComparedModule>,
): Map<ComparedSymbol, ComparedSymbol> {
  const places = new Map<string, ComparedSymbol[]>()
  for (const { symbols } of after.values()) {
    for (const symbol of symbols.values()) {
      // A declaration without an API page of its module may not be importable.
      if (symbol.owner !== null || after.get(symbol.module)?.path !== symbol.path) continue
      const known = places.get(symbol.name)
      if (known === undefined) places.set(symbol.name, [symbol])
      else known.push(symbol)
    }
  }
  const moves = new Map<ComparedSymbol, ComparedSymbol>()
  const [oldNames, newNames] = [listOwnNames(before), listOwnNames(after)]
  for (const { name, symbols } of before.values()) {
    if (name === UNKNOWN_MODULE) continue
    for (const symbol of symbols.values()) {
      const own = ownName(symbol)
      if (symbol.owner !== null || newNames.get(name)?.has(own) === true) continue
      const isNew = (one: ComparedSymbol) => oldNames.get(one.module)?.has(own) !== true
      const target = places.get(symbol.name)?.find(isNew)
      if (target !== undefined) moves.set(symbol, target)
    }
  }
  return moves
}

/** Names of each module without the namespaces around them. */
function listOwnNames(modules: ReadonlyMap<string, ComparedModule>): Map<string, Set<string>> {
  return new Map(
    [...modules].map(([module, { symbols }]) => {
      return [module, new Set([...symbols.values()].filter(({ owner }) => owner === null).map(ownName))]
    }),
  )
}

function ownName({ name }: Pick<ComparedSymbol, 'name'>): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function compareModule(
  old: ComparedModule,
  fresh: ComparedModule,
  moves: ReadonlyMap<ComparedSymbol, ComparedSymbol>,
  all: { readonly old: NamedSymbols; readonly fresh: NamedSymbols },
): Change[] {
  const removed = listMissing(old.symbols, fresh.symbols)
  const added = listMissing(fresh.symbols, old.symbols)
  const renames = findRenames(removed, added, old.symbols, fresh.symbols)
  const targets = new Set(renames.values())
  const owners = new Set([...old.symbols.values(), ...fresh.symbols.values()].map(({ owner }) => owner))
  const [ownNames] = listOwnNames(new Map([[fresh.name, fresh]])).values()
  const isStillMember = (symbol: ComparedSymbol) => {
    if (isInherited(symbol, fresh.symbols) || isInSignature(symbol, fresh.symbols)) return true
    // A type of another package that the owner is newly made of may have the member.
    const known = listForeign(symbol.owner, old.symbols, all.old)
    return [...listForeign(symbol.owner, fresh.symbols, all.fresh)].some((type) => !known.has(type))
  }
  // The same symbol may be in another namespace of its module.
  const isInNamespace = ({ name, owner }: ComparedSymbol) => {
    return owner === null && name.includes('.') && ownNames?.has(ownName({ name })) === true
  }
  const changes: Change[] = []
  for (const symbol of removed) {
    const target = renames.get(symbol)
    const moved = moves.get(symbol)
    if (target !== undefined) changes.push({ ...symbolChange('renamed', symbol, target), newName: target.name })
    else if (moved !== undefined) changes.push({ ...symbolChange('moved', symbol, moved), newName: moved.module })
    else if (!isStillMember(symbol) && !isInNamespace(symbol)) changes.push(symbolChange('removed', symbol, undefined))
  }
  for (const symbol of old.symbols.values()) {
    const target = fresh.symbols.get(symbol.name)
    if (target !== undefined) changes.push(...compareSymbol(symbol, target, owners))
  }
  for (const symbol of added) {
    if (isDeprecated(symbol)) changes.push(deprecation(symbol, undefined))
    else if (!targets.has(symbol)) changes.push(symbolChange('added', undefined, symbol))
  }
  return changes
}

/** Symbols that the other side lacks. Members of a missing symbol are not listed. */
function listMissing(
  symbols: ReadonlyMap<string, ComparedSymbol>,
  others: ReadonlyMap<string, ComparedSymbol>,
): ComparedSymbol[] {
  const isThere = (name: string) => {
    const found = others.get(name)
    return found !== undefined && !isInternal(found)
  }
  return [...symbols.values()].filter((symbol) => {
    const { name, owner } = symbol
    if (owner === null) return !isThere(name) && !isInternal(symbol)
    return !others.has(name) && others.has(owner) && !name.endsWith('.()')
  })
}

/** Whether the signature of the owner, which is not always divided into members, still has a member. */
function isInSignature({ name, owner }: ComparedSymbol, symbols: ReadonlyMap<string, ComparedSymbol>): boolean {
  const signature = owner === null ? '' : (symbols.get(owner)?.signature ?? '')
  const member = escapeRegExp(ownName({ name }))
  return signature.includes('{') && new RegExp(`(?<![\\w$])${member}\\??\\s*[:(<]`).test(signature)
}

/** Whether a member is now one of a class or interface that its owner extends. */
function isInherited({ name, owner }: ComparedSymbol, symbols: ReadonlyMap<string, ComparedSymbol>): boolean {
  if (owner === null) return false
  const member = name.slice(owner.length)
  const seen = new Set<string>()
  const has = (type: string): boolean => {
    if (seen.has(type)) return false
    seen.add(type)
    return parentsIn(symbols.get(type)?.signature ?? '').some((parent) => symbols.has(parent + member) || has(parent))
  }
  return has(owner)
}

type NamedSymbols = ReadonlyMap<string, ComparedSymbol>

/** All symbols that are no members, without the namespaces around them. */
function listByOwnName(modules: ReadonlyMap<string, ComparedModule>): NamedSymbols {
  const all = [...modules.values()].flatMap(({ symbols }) => [...symbols.values()])
  return new Map(all.filter(({ owner }) => owner === null).map((symbol) => [ownName(symbol), symbol]))
}

/** Types of other packages that a type extends or is made of, directly or through others. */
function listForeign(type: string | null, symbols: NamedSymbols, all: NamedSymbols): ReadonlySet<string> {
  const foreign = new Set<string>()
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    const found = symbols.get(name) ?? all.get(ownName({ name }))
    if (found !== undefined) parentsIn(found.signature).forEach(visit)
    else if (!NO_MEMBERS.test(name)) foreign.add(name)
  }
  if (type !== null) visit(type)
  return foreign
}

/** Primitive and utility types, and type parameters, which by habit are one letter or begin with T. */
const NO_MEMBERS =
  /^(?:[a-z]+|[A-Z]\w?|T[A-Z]\w*|Partial|Required|Readonly|Record|Pick|Omit|Exclude|Extract|NonNullable|ReturnType|Parameters|Awaited|Promise|Array|ReadonlyArray|Map|Set|Error)$/

/** `owners` are the symbols with members, which are compared by themselves. */
function compareSymbol(old: ComparedSymbol, fresh: ComparedSymbol, owners: ReadonlySet<string | null>): Change[] {
  if (!isDeprecated(old) && isDeprecated(fresh)) return [deprecation(fresh, old)]
  if (old.signature === '' || fresh.signature === '' || isInternal(fresh)) return []
  const outline = owners.has(old.name) ? withoutMembers : (text: string) => text
  if (essenceOf(outline(old.signature), old.path) !== essenceOf(outline(fresh.signature), fresh.path))
    return [symbolChange('changed', old, fresh)]
  const [before, after] = [defaultOf(old), defaultOf(fresh)]
  if (before === after || before === '' || after === '') return []
  return [{ ...symbolChange('changed', old, fresh), lines: [`- ${before}`, `+ ${after}`] }]
}

/** The default value that a doc comment states. */
function defaultOf({ doc }: ComparedSymbol): string {
  return /\bDefault: .{1,80}?(?=$|\n|\. )/.exec(doc)?.[0].trim() ?? ''
}

function isDeprecated({ doc }: ComparedSymbol): boolean {
  return doc.includes('**Deprecated.**')
}

function deprecation(fresh: ComparedSymbol, old: ComparedSymbol | undefined): Change {
  const text = fresh.doc.slice(fresh.doc.indexOf('**Deprecated.**') + '**Deprecated.**'.length).trim()
  const [line = ''] = text.split('\n\n', 1)
  return {
    ...symbolChange('deprecated', old, fresh),
    lines: line === '' ? [] : [line.replace(/\s+/g, ' ').slice(0, 300)],
  }
}

function symbolChange(
  kind: Change['kind'],
  old: ComparedSymbol | undefined,
  fresh: ComparedSymbol | undefined,
): Change {
  const place = fresh ?? old
  return {
    kind,
    subject: 'symbol',
    name: (old ?? fresh)?.name ?? '',
    newName: null,
    path: place?.path ?? '',
    line: place?.line ?? 1,
    isOldPage: fresh === undefined,
    before: old?.signature ?? null,
    after: fresh?.signature ?? null,
    lostNames: old === undefined || fresh === undefined ? [] : listLostNames(old.signature, fresh.signature),
    lines: [],
  }
}

function moduleChange(kind: 'removed' | 'added', { name, path }: ComparedModule): Change {
  const signatures = { before: null, after: null, lostNames: [], lines: [] }
  return { kind, subject: 'module', name, newName: null, path, line: 1, isOldPage: kind === 'removed', ...signatures }
}

/** A shorter signature is too common to recognise a symbol by it. */
const MIN_SIGNATURE_CHARS = 30
const MIN_DOC_CHARS = 40
const MIN_MEMBERS = 3
/** Share of their members that two symbols must have in common. */
const MIN_SHARED_MEMBERS = 0.7

/** Pairs of symbols of one owner that differ in their name, but have the same signature, text or members. */
function findRenames(
  removed: readonly ComparedSymbol[],
  added: readonly ComparedSymbol[],
  oldSymbols: ReadonlyMap<string, ComparedSymbol>,
  newSymbols: ReadonlyMap<string, ComparedSymbol>,
): Map<ComparedSymbol, ComparedSymbol> {
  const renames = new Map<ComparedSymbol, ComparedSymbol>()
  const taken = new Set<ComparedSymbol>()
  const addedByOwner = groupBy(added, ({ owner }) => owner)
  const oldMembers = membersByOwner(oldSymbols)
  const newMembers = membersByOwner(newSymbols)
  for (const isMatch of [hasSameText, createSignatureCheck(), hasSameMembers]) {
    for (const old of removed) {
      if (renames.has(old)) continue
      const candidates = addedByOwner.get(old.owner) ?? []
      const found = candidates.filter((one) => !taken.has(one) && isMatch(old, one, oldMembers, newMembers))
      const [only] = found
      // Several candidates: the name cannot be told by content.
      if (only === undefined || found.length > 1) continue
      renames.set(old, only)
      taken.add(only)
    }
  }
  return renames
}

type Members = ReadonlyMap<string, ReadonlySet<string>>

function membersByOwner(symbols: ReadonlyMap<string, ComparedSymbol>): Members {
  const members = new Map<string, Set<string>>()
  for (const { name, owner } of symbols.values()) {
    if (owner === null) continue
    const set = members.get(owner) ?? new Set()
    members.set(owner, set.add(name.slice(owner.length + 1)))
  }
  return members
}

function hasSameText(a: ComparedSymbol, b: ComparedSymbol): boolean {
  return a.doc.length >= MIN_DOC_CHARS && a.doc.replaceAll(a.name, '') === b.doc.replaceAll(b.name, '')
}

/** Compares signatures without the own names. Most symbols are compared with many others, so each signature is prepared once. */
function createSignatureCheck(): (a: ComparedSymbol, b: ComparedSymbol) => boolean {
  const prepared = new Map<ComparedSymbol, string>()
  const prepare = (symbol: ComparedSymbol) => {
    const known = prepared.get(symbol) ?? withoutName(symbol)
    prepared.set(symbol, known)
    return known
  }
  return (a, b) => prepare(a).length >= MIN_SIGNATURE_CHARS && prepare(a) === prepare(b)
}

function withoutName({ name, signature }: ComparedSymbol): string {
  const own = name.slice(name.lastIndexOf('.') + 1)
  return signature
    .split(/\b/)
    .map((word) => (word === own ? '_' : word))
    .join('')
}

function hasSameMembers(a: ComparedSymbol, b: ComparedSymbol, old: Members, fresh: Members): boolean {
  const [own, others] = [old.get(a.name), fresh.get(b.name)]
  if (own === undefined || others === undefined || own.size < MIN_MEMBERS) return false
  const shared = [...own].filter((name) => others.has(name)).length
  return shared >= MIN_SHARED_MEMBERS * (own.size + others.size - shared)
}
