import { groupBy } from '../group-by.ts'
import type { ComparedSymbol } from './read-symbols.ts'
import { parentsIn } from './signature.ts'

/** A type with more users is compared by itself, or its members would be listed many times. */
const MAX_USERS = 3
/** Types that are not exported inherit from each other at most this deep. */
const MAX_DEPTH = 6

/** Whether an API page describes a symbol only because others are made of it. */
export function isInternal({ doc }: ComparedSymbol): boolean {
  return doc.includes(NOT_EXPORTED)
}

/** Whether the line of an API page, from 1, is the heading of a name that the module exports. */
export function isExportedAt(lines: readonly string[], line: number): boolean {
  if (lines[line - 1]?.startsWith('## ') !== true) return false
  const end = lines.findIndex((text, i) => i >= line && /^#{2,3} /.test(text))
  return !lines.slice(line, end < 0 ? lines.length : end).includes(NOT_EXPORTED)
}

const NOT_EXPORTED = '**Not exported.**'

/**
 * Gives the members of types that are not exported to the exported types that inherit from them or are made of them. So
 * `type Options = Current & Deprecated` has all its options under its own name.
 */
export function inlineInternal(symbols: ReadonlyMap<string, ComparedSymbol>): ReadonlyMap<string, ComparedSymbol> {
  const internal = new Set(
    [...symbols.values()].filter((one) => one.owner === null && isInternal(one)).map((one) => one.name),
  )
  if (internal.size === 0) return symbols
  const members = groupBy(symbols.values(), ({ owner }) => owner)
  const parentsOf = (name: string): string[] => {
    const parents = parentsIn(symbols.get(name)?.signature ?? '')
    return [...new Set(parents)].filter((parent) => parent !== name && internal.has(parent))
  }
  const ancestorsOf = (name: string, depth = 0): string[] => {
    const parents = depth < MAX_DEPTH ? parentsOf(name) : []
    return [...new Set(parents.flatMap((parent) => [parent, ...ancestorsOf(parent, depth + 1)]))]
  }
  const users = new Map<string, string[]>()
  for (const { name, owner } of symbols.values()) {
    if (owner !== null || internal.has(name)) continue
    for (const ancestor of ancestorsOf(name)) users.set(ancestor, [...(users.get(ancestor) ?? []), name])
  }
  const inlined = [...users].filter(([, names]) => names.length <= MAX_USERS)
  const left = new Set(inlined.map(([name]) => name))
  // They stay without their members, because they may inherit from exported types.
  const result = new Map([...symbols].filter(([, { owner }]) => owner === null || !left.has(owner)))
  for (const [name, children] of inlined) {
    for (const member of members.get(name) ?? []) {
      for (const child of children) {
        const own = child + member.name.slice(name.length)
        if (!result.has(own)) result.set(own, { ...member, name: own, owner: child })
      }
    }
  }
  return result
}
