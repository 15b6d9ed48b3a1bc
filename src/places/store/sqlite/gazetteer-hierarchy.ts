import type { Database } from '../../../store/sqlite/database/database.ts'
import type { PlaceRelation } from '../../analysis/place.ts'
import {
  type Ancestor,
  type DirectParent,
  hasAncestor,
  haveSameAncestors,
  type LinkResult,
  mergeAncestors,
} from '../common/ancestors.ts'
import type { ParentRefs } from '../common/import-tally.ts'

/** The existing direct parents of a place, and whether its record names a parent that could not be linked. */
interface Resolved {
  readonly direct: readonly DirectParent[]
  readonly hasMissingParent: boolean
}

/** Maintains the place hierarchy. Everything here runs inside the caller's transaction. */
export interface PlaceLinks {
  /** Links a new place, which has no descendants yet, to the existing parents that its record names. */
  putNew(id: number, record: ParentRefs): LinkResult
  /** Links a known place, with all its descendants. */
  put(id: number, record: ParentRefs): LinkResult
  /** The first parent that a record names and that is itself a descendant of the record's place. */
  findCyclicParent(record: ParentRefs): string | undefined
  /** Clears the cache, because transactions may be rolled back and other processes may write in between. */
  clearCache(): void
}

/** Creates the statements for the place hierarchy. */
export function createPlaceLinks(db: Database): PlaceLinks {
  const sql = prepareLinks(db)
  // A cache, because many places share their parents.
  const places = new Map<string, { readonly id: number; readonly ancestors: readonly Ancestor[] } | undefined>()
  const find = (ref: string) => {
    if (!places.has(ref)) {
      const id = sql.selectId.get(ref)
      places.set(ref, id === undefined ? undefined : { id, ancestors: sql.selectAncestors.all(id) })
    }
    return places.get(ref)
  }

  const resolve = (id: number | null, { ref, parents }: ParentRefs): Resolved => {
    const direct: DirectParent[] = []
    let hasMissingParent = false
    for (const { ref: parent, relation } of parents) {
      const found = parent === ref ? undefined : find(parent)
      const isCyclic = found !== undefined && id !== null && hasAncestor(found.ancestors, id, relation)
      if (found !== undefined && !isCyclic) direct.push({ ...found, relation })
      else hasMissingParent ||= parent !== ref
    }
    return { direct, hasMissingParent }
  }
  /** Replaces the ancestors of a place, and returns the previous ones; undefined when nothing changed. */
  const replace = (id: number, ancestors: readonly Ancestor[]): readonly Ancestor[] | undefined => {
    const before = sql.selectAncestors.all(id)
    if (haveSameAncestors(before, ancestors)) return undefined
    sql.clear.run(id)
    for (const { id: parent, relation, depth } of ancestors) sql.insert.run(parent, id, relation, depth)
    return before
  }
  /** Updates the ancestors of all descendants of a place, nearest first, from their direct parents. */
  const updateDescendants = (id: number, relation: PlaceRelation): void => {
    // A place with several parents may be updated before one of them, so this repeats until nothing changes.
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const child of sql.selectDescendants.all(id, relation)) {
        const direct = sql.selectAncestors.all(child).filter(({ depth }) => depth === 1)
        const parents = direct.map((parent) => ({ ...parent, ancestors: sql.selectAncestors.all(parent.id) }))
        const ancestors = mergeAncestors(parents)
        if (replace(child, ancestors) !== undefined) isChanged = true
      }
    }
  }

  return {
    putNew: (id, record) => {
      const { direct, hasMissingParent } = resolve(null, record)
      places.delete(record.ref)
      const ancestors = mergeAncestors(direct)
      for (const { id: parent, relation, depth } of ancestors) sql.insert.run(parent, id, relation, depth)
      return { isChanged: ancestors.length > 0, hasMissingParent }
    },
    put: (id, record) => {
      const { direct, hasMissingParent } = resolve(id, record)
      const ancestors = mergeAncestors(direct)
      const before = replace(id, ancestors)
      if (before === undefined) return { isChanged: false, hasMissingParent }
      places.clear()
      const relations = new Set([...before, ...ancestors].map((ancestor) => ancestor.relation))
      for (const relation of relations) updateDescendants(id, relation)
      return { isChanged: true, hasMissingParent }
    },
    findCyclicParent: ({ ref, parents }) => {
      places.clear()
      const id = sql.selectId.get(ref)
      const cyclicParent = parents.find(
        (parent) => id !== undefined && hasAncestor(find(parent.ref)?.ancestors ?? [], id, parent.relation),
      )
      return cyclicParent?.ref
    },
    clearCache: () => places.clear(),
  }
}

/** The statements for the place hierarchy. */
function prepareLinks(db: Database) {
  return {
    selectId: db.prepare<[string], number>('SELECT id FROM places WHERE ref = ?').pluck(),
    selectAncestors: db.prepare<[number], Ancestor>(
      'SELECT parent AS id, relation, depth FROM place_hierarchy WHERE child = ?',
    ),
    selectDescendants: db
      .prepare<[number, string], number>(
        'SELECT child FROM place_hierarchy WHERE parent = ? AND relation = ? ORDER BY depth, child',
      )
      .pluck(),
    insert: db.prepare<[number, number, string, number]>('INSERT INTO place_hierarchy VALUES (?, ?, ?, ?)'),
    clear: db.prepare<[number]>('DELETE FROM place_hierarchy WHERE child = ?'),
  }
}
