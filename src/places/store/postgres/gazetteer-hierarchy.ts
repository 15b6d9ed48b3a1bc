import type { Sql } from '../../../store/postgres/database/database.ts'
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

interface AncestorColumns extends Ancestor {
  readonly child: number
}

/** For each record, the first named parent that is itself a descendant of the record's place. */
export async function listCyclicParents(sql: Sql, records: readonly ParentRefs[]): Promise<(string | undefined)[]> {
  const namedParents = records.flatMap(({ ref, parents }, nth) => parents.map((parent) => ({ nth, ref, parent })))
  const found = await sql.all<{ nth: number; parent: string }>(
    `SELECT DISTINCT ON (a.nth) a.nth, a.parent
     FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS a (nth, ref, parent, relation, rank)
       JOIN places o ON o.ref = a.ref JOIN places p ON p.ref = a.parent
       JOIN place_hierarchy h ON h.parent = o.id AND h.child = p.id AND h.relation = a.relation
     ORDER BY a.nth, a.rank`,
    [
      namedParents.map(({ nth }) => nth),
      namedParents.map(({ ref }) => ref),
      namedParents.map(({ parent }) => parent.ref),
      namedParents.map(({ parent }) => parent.relation),
    ],
  )
  const cyclicParents = new Map(found.map(({ nth, parent }) => [nth, parent]))
  return records.map((_, nth) => cyclicParents.get(nth))
}

/**
 * Maintains the place hierarchy for a batch of records in one transaction, as if they were written one after the other. `flush` writes new
 * links in bulk.
 */
export class PlaceLinks {
  readonly #sql: Sql
  readonly #ids = new Map<string, number>()
  readonly #ancestors = new Map<number, readonly Ancestor[]>()
  #unwritten: { readonly child: number; readonly ancestor: Ancestor }[] = []

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
    const { direct, hasMissingParent } = this.#resolve(id, record)
    this.#ids.set(record.ref, id)
    const ancestors = mergeAncestors(direct)
    const before = this.#ancestors.get(id) ?? []
    if (haveSameAncestors(before, ancestors)) return { isChanged: false, hasMissingParent }
    // A new place has no descendants yet.
    if (isNew) {
      for (const ancestor of ancestors) this.#unwritten.push({ child: id, ancestor })
      this.#ancestors.set(id, ancestors)
      return { isChanged: true, hasMissingParent }
    }
    await this.flush()
    await this.#replace(id, ancestors)
    const relations = new Set([...before, ...ancestors].map((ancestor) => ancestor.relation))
    for (const relation of relations) await this.#updateDescendants(id, relation)
    // Descendants of this place may be parents of later records, so the cache is cleared.
    this.#ancestors.clear()
    return { isChanged: true, hasMissingParent }
  }

  /** Writes the new links. */
  async flush(): Promise<void> {
    if (this.#unwritten.length === 0) return
    const links = this.#unwritten
    this.#unwritten = []
    await this.#sql.run(
      'INSERT INTO place_hierarchy (parent, child, relation, depth) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::int[])',
      [
        links.map(({ ancestor }) => ancestor.id),
        links.map(({ child }) => child),
        links.map(({ ancestor }) => ancestor.relation),
        links.map(({ ancestor }) => ancestor.depth),
      ],
    )
  }

  #resolve(id: number, { ref, parents }: ParentRefs): { direct: DirectParent[]; hasMissingParent: boolean } {
    const direct: DirectParent[] = []
    let hasMissingParent = false
    for (const { ref: parent, relation } of parents) {
      const found = parent === ref ? undefined : this.#ids.get(parent)
      const ancestors = found === undefined ? [] : (this.#ancestors.get(found) ?? [])
      const isCyclic = found !== undefined && hasAncestor(ancestors, id, relation)
      if (found !== undefined && !isCyclic) direct.push({ id: found, ancestors, relation })
      else hasMissingParent ||= parent !== ref
    }
    return { direct, hasMissingParent }
  }

  /** Reads the ancestors of a place and its parents again, when they are not cached. */
  async #readMissing(id: number, { parents }: ParentRefs): Promise<void> {
    const ids = [id, ...parents.flatMap(({ ref }) => this.#ids.get(ref) ?? [])]
    const missing = ids.filter((missingId) => !this.#ancestors.has(missingId))
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
      this.#ancestors.set(
        id,
        (grouped.get(id) ?? []).map(({ child: _, ...ancestor }) => ancestor),
      )
  }

  async #replace(id: number, ancestors: readonly Ancestor[]): Promise<void> {
    await this.#sql.run('DELETE FROM place_hierarchy WHERE child = $1', [id])
    for (const ancestor of ancestors) this.#unwritten.push({ child: id, ancestor })
    this.#ancestors.set(id, ancestors)
    await this.flush()
  }

  /** Updates the ancestors of all descendants of a place, nearest first, from their direct parents. */
  async #updateDescendants(id: number, relation: PlaceRelation): Promise<void> {
    // A place with several parents may be updated before one of them, so this repeats until nothing changes.
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      const children = await this.#sql.all<{ child: number }>(
        'SELECT child FROM place_hierarchy WHERE parent = $1 AND relation = $2 ORDER BY depth, child',
        [id, relation],
      )
      for (const { child } of children) {
        await this.#read([child])
        const before = this.#ancestors.get(child) ?? []
        const direct = before.filter(({ depth }) => depth === 1)
        await this.#read(direct.map((parent) => parent.id))
        const parents = direct.map((parent) => ({ ...parent, ancestors: this.#ancestors.get(parent.id) ?? [] }))
        const ancestors = mergeAncestors(parents)
        if (haveSameAncestors(before, ancestors)) continue
        await this.#replace(child, ancestors)
        isChanged = true
      }
    }
  }
}
