import type { PlaceRelation } from '../../analysis/place.ts'
import { type Above, type Ancestor, areSame, climb, isWithin } from '../common/ancestors.ts'
import type { WithinOthers } from '../common/import-tally.ts'
import type { Database } from './database.ts'

/** What became of putting a place into those that it lies in. */
interface Linked {
  readonly isChanged: boolean
  /** Whether it names one that it could not be put in. */
  readonly isOpen: boolean
}

/** Keeps what lies in what. Everything here runs inside the transaction of the caller. */
export interface PlaceLinks {
  /** Puts a place that nothing lies in yet into those that its record names, as far as they are there. */
  putNew(id: number, record: WithinOthers): Linked
  /** The same for one that is known, with all that lies in it. */
  put(id: number, record: WithinOthers): Linked
  /** The first place that a record names which lies in the record's own. */
  findWithin(record: WithinOthers): string | undefined
  /** Forgets what is remembered of places: transactions may be undone, and others write in between. */
  forget(): void
}

/** Prepares it. */
export function createPlaceLinks(db: Database): PlaceLinks {
  const selectId = db.prepare<[string], number>('SELECT id FROM places WHERE ref = ?').pluck()
  const selectAncestors = db.prepare<[number], Ancestor>(
    'SELECT parent AS id, relation, depth FROM place_hierarchy WHERE child = ?',
  )
  const selectDescendants = db
    .prepare<[number, string], number>(
      'SELECT child FROM place_hierarchy WHERE parent = ? AND relation = ? ORDER BY depth, child',
    )
    .pluck()
  const insert = db.prepare<[number, number, string, number]>('INSERT INTO place_hierarchy VALUES (?, ?, ?, ?)')
  const clear = db.prepare<[number]>('DELETE FROM place_hierarchy WHERE child = ?')
  // Many lie in the same place.
  const places = new Map<string, { readonly id: number; readonly above: readonly Ancestor[] } | undefined>()
  const find = (ref: string) => {
    if (!places.has(ref)) {
      const id = selectId.get(ref)
      places.set(ref, id === undefined ? undefined : { id, above: selectAncestors.all(id) })
    }
    return places.get(ref)
  }

  const resolve = (id: number | null, { ref, parents }: WithinOthers): { direct: Above[]; isOpen: boolean } => {
    const direct: Above[] = []
    let isOpen = false
    for (const { ref: parent, relation } of parents) {
      const found = parent === ref ? undefined : find(parent)
      const isRound = found !== undefined && id !== null && isWithin(found.above, id, relation)
      if (found !== undefined && !isRound) direct.push({ ...found, relation })
      else isOpen ||= parent !== ref
    }
    return { direct, isOpen }
  }
  /** Gives a place what it lies in; undefined where that is as it was, otherwise what it lay in. */
  const replace = (id: number, ancestors: readonly Ancestor[]): readonly Ancestor[] | undefined => {
    const before = selectAncestors.all(id)
    if (areSame(before, ancestors)) return undefined
    clear.run(id)
    for (const { id: parent, relation, depth } of ancestors) insert.run(parent, id, relation, depth)
    return before
  }
  /** The same for all that lies in a place, from the nearest on: each by those it lies in directly. */
  const lift = (id: number, relation: PlaceRelation): void => {
    // One that lies in several may have been reached before one of those: then it is right the next time.
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const child of selectDescendants.all(id, relation)) {
        const direct = selectAncestors.all(child).filter(({ depth }) => depth === 1)
        const ancestors = climb(direct.map((one) => ({ ...one, above: selectAncestors.all(one.id) })))
        if (replace(child, ancestors) !== undefined) isChanged = true
      }
    }
  }

  return {
    putNew: (id, record) => {
      const { direct, isOpen } = resolve(null, record)
      places.delete(record.ref)
      const ancestors = climb(direct)
      for (const { id: parent, relation, depth } of ancestors) insert.run(parent, id, relation, depth)
      return { isChanged: ancestors.length > 0, isOpen }
    },
    put: (id, record) => {
      const { direct, isOpen } = resolve(id, record)
      const ancestors = climb(direct)
      const before = replace(id, ancestors)
      if (before === undefined) return { isChanged: false, isOpen }
      places.clear()
      for (const relation of new Set([...before, ...ancestors].map((one) => one.relation))) lift(id, relation)
      return { isChanged: true, isOpen }
    },
    findWithin: ({ ref, parents }) => {
      places.clear()
      const id = selectId.get(ref)
      const within = parents.find(
        (parent) => id !== undefined && isWithin(find(parent.ref)?.above ?? [], id, parent.relation),
      )
      return within?.ref
    },
    forget: () => places.clear(),
  }
}
