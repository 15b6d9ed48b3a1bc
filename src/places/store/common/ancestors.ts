import type { PlaceRelation } from '../../analysis/place.ts'

/** A place that contains another one. */
export interface Ancestor {
  readonly id: number
  readonly relation: PlaceRelation
  /** 1 for a direct parent, 2 for a parent of that one, and so on. */
  readonly depth: number
}

/** A direct parent of a place, with the ancestors of that parent. */
export interface DirectParent {
  readonly id: number
  readonly relation: PlaceRelation
  readonly ancestors: readonly Ancestor[]
}

/** Whether a place is among the ancestors of another one. */
export function hasAncestor(ancestors: readonly Ancestor[], id: number, relation: PlaceRelation): boolean {
  return ancestors.some((ancestor) => ancestor.id === id && ancestor.relation === relation)
}

/**
 * All ancestors through several direct parents, each with its smallest depth. A direct parent that is also an ancestor of another direct
 * parent counts only as that ancestor.
 */
export function mergeAncestors(direct: readonly DirectParent[]): Ancestor[] {
  const nearest = new Map<string, Ancestor>()
  const add = (ancestor: Ancestor): void => {
    const key = `${ancestor.relation} ${ancestor.id}`
    if ((nearest.get(key)?.depth ?? Number.POSITIVE_INFINITY) > ancestor.depth) nearest.set(key, ancestor)
  }
  for (const { id, relation, ancestors } of direct) {
    if (!direct.some((other) => hasAncestor(other.ancestors, id, relation) && other.relation === relation))
      add({ id, relation, depth: 1 })
    for (const ancestor of ancestors) {
      if (ancestor.relation === relation) add({ ...ancestor, depth: ancestor.depth + 1 })
    }
  }
  return [...nearest.values()]
}

/** Whether two lists have the same ancestors at the same depths. */
export function haveSameAncestors(a: readonly Ancestor[], b: readonly Ancestor[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ id, relation, depth }) =>
      b.some((other) => other.id === id && other.relation === relation && other.depth === depth),
    )
  )
}

/** The result of linking a place to its parents. */
export interface LinkResult {
  readonly isChanged: boolean
  /** Whether the record names a parent that could not be linked. */
  readonly hasMissingParent: boolean
}
