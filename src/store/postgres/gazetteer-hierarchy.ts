import type { PlaceRelation } from '../../analysis/place.ts'
import {
  type Ancestor,
  type DirectParent,
  hasAncestor,
  haveSameAncestors,
  mergeAncestors,
} from '../common/ancestors.ts'
import type { ParentRefs } from '../common/import-tally.ts'
import type { Sql } from './database.ts'

/** The result of linking a place to its parents. */
interface LinkResult {
  readonly isChanged: boolean
  /** Whether the record names a parent that could not be linked. */
  readonly hasMissingParent: boolean
}

interface AncestorColumns extends Ancestor {
  readonly child: number
}

/** For each record, the first named parent that is itself a descendant of the record's place. */
export async function listCyclicParents(sql: Sql, records: readonly ParentRefs[]): Promise<(string | undefined)[]> {
  const named = records.flatMap(({ ref, parents }, nth) => parents.map((parent) => ({ nth, ref, parent })))
  const found = await sql.all<{ nth: number; parent: string }>(
    `SELECT DISTINCT ON (a.nth) a.nth, a.parent
     FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS a (nth, ref, parent, relation, place)
       JOIN places o ON o.ref = a.ref JOIN places p ON p.ref = a.parent
       JOIN place_hierarchy h ON h.parent = o.id AND h.child = p.id AND h.relation = a.relation
     ORDER BY a.nth, a.place`,
    [
      named.map(({ nth }) => nth),
      named.map(({ ref }) => ref),
      named.map(({ parent }) => parent.ref),
      named.map(({ parent }) => parent.relation),
    ],
  )
  const within = new Map(found.map(({ nth, parent }) => [nth, parent]))
  return records.map((_, nth) => within.get(nth))
}

/**
 * Maintains the place hierarchy for a batch of records in one transaction, as if they were written one after the other. `flush` writes new
 * links in bulk.
 */
export class PlaceLinks {
  readonly #sql: Sql
  readonly #ids = new Map<string, number>()
  readonly #above = new Map<number, readonly Ancestor[]>()
  #unwritten: { readonly child: number; readonly above: Ancestor }[] = []

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Reads the existing ancestors of all places that the records refer to. */
  async prepare(records: readonly ParentRefs[]): Promise<void> {
    const refs = [...new Set(records.flatMap(({ ref, parents }) => [ref, ...parents.map((parent) => parent.ref)]))]
    const places = await this.#sql.all<{ id: number; ref: string }>('SELECT id, ref FROM places WHERE ref = ANY ($1)', [
      refs,
    ])
    for (const { id, ref } of places) this.#ids.set(ref, id)
    await this.#read(places.map(({ id }) => id))
  }

  /** Links a place, and everything inside it, to the existing parents that its record names. */
  async put(id: number, record: ParentRefs, isNew: boolean): Promise<LinkResult> {
    await this.#readMissing(id, record)
    const { direct, isOpen } = this.#resolve(id, record)
    this.#ids.set(record.ref, id)
    const ancestors = mergeAncestors(direct)
    const before = this.#above.get(id) ?? []
    if (haveSameAncestors(before, ancestors)) return { isChanged: false, hasMissingParent: isOpen }
    // A new place has no descendants yet.
    if (isNew) {
      for (const above of ancestors) this.#unwritten.push({ child: id, above })
      this.#above.set(id, ancestors)
      return { isChanged: true, hasMissingParent: isOpen }
    }
    await this.flush()
    await this.#replace(id, ancestors)
    for (const relation of new Set([...before, ...ancestors].map((one) => one.relation))) await this.#lift(id, relation)
    // Descendants of this place may be parents of later records, so the cache is cleared.
    this.#above.clear()
    return { isChanged: true, hasMissingParent: isOpen }
  }

  /** Writes the new links. */
  async flush(): Promise<void> {
    if (this.#unwritten.length === 0) return
    const some = this.#unwritten
    this.#unwritten = []
    await this.#sql.run(
      'INSERT INTO place_hierarchy (parent, child, relation, depth) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::int[])',
      [
        some.map(({ above }) => above.id),
        some.map(({ child }) => child),
        some.map(({ above }) => above.relation),
        some.map(({ above }) => above.depth),
      ],
    )
  }

  #resolve(id: number, { ref, parents }: ParentRefs): { direct: DirectParent[]; isOpen: boolean } {
    const direct: DirectParent[] = []
    let isOpen = false
    for (const { ref: parent, relation } of parents) {
      const found = parent === ref ? undefined : this.#ids.get(parent)
      const above = found === undefined ? [] : (this.#above.get(found) ?? [])
      const isRound = found !== undefined && hasAncestor(above, id, relation)
      if (found !== undefined && !isRound) direct.push({ id: found, ancestors: above, relation })
      else isOpen ||= parent !== ref
    }
    return { direct, isOpen }
  }

  /** Reads the ancestors of a place and its parents again, when they are not cached. */
  async #readMissing(id: number, { parents }: ParentRefs): Promise<void> {
    const ids = [id, ...parents.flatMap(({ ref }) => this.#ids.get(ref) ?? [])]
    const missing = ids.filter((one) => !this.#above.has(one))
    if (missing.length === 0) return
    await this.flush()
    await this.#read(missing)
  }

  async #read(ids: readonly number[]): Promise<void> {
    const found = await this.#sql.all<AncestorColumns>(
      'SELECT child, parent AS id, relation, depth FROM place_hierarchy WHERE child = ANY ($1)',
      [ids],
    )
    const grouped = Map.groupBy(found, ({ child }) => child)
    for (const id of ids)
      this.#above.set(
        id,
        (grouped.get(id) ?? []).map(({ child: _, ...above }) => above),
      )
  }

  async #replace(id: number, ancestors: readonly Ancestor[]): Promise<void> {
    await this.#sql.run('DELETE FROM place_hierarchy WHERE child = $1', [id])
    for (const above of ancestors) this.#unwritten.push({ child: id, above })
    this.#above.set(id, ancestors)
    await this.flush()
  }

  /** Updates the ancestors of all descendants of a place, nearest first, from their direct parents. */
  async #lift(id: number, relation: PlaceRelation): Promise<void> {
    // A place with several parents may be updated before one of them, so this repeats until nothing changes.
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      const children = await this.#sql.all<{ child: number }>(
        'SELECT child FROM place_hierarchy WHERE parent = $1 AND relation = $2 ORDER BY depth, child',
        [id, relation],
      )
      for (const { child } of children) {
        await this.#read([child])
        const before = this.#above.get(child) ?? []
        const direct = before.filter(({ depth }) => depth === 1)
        await this.#read(direct.map((one) => one.id))
        const ancestors = mergeAncestors(direct.map((one) => ({ ...one, ancestors: this.#above.get(one.id) ?? [] })))
        if (haveSameAncestors(before, ancestors)) continue
        await this.#replace(child, ancestors)
        isChanged = true
      }
    }
  }
}
