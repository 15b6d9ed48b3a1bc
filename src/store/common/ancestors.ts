import type { PlaceRelation } from '../../analysis/place.ts'

/** A place that another lies in. */
export interface Ancestor {
  readonly id: number
  readonly relation: PlaceRelation
  /** How many steps up it is. */
  readonly depth: number
}

/** A place that another lies in directly, with all that it lies in itself. */
export interface Above {
  readonly id: number
  readonly relation: PlaceRelation
  readonly above: readonly Ancestor[]
}

/** Whether a place is among those above another. */
export function isWithin(above: readonly Ancestor[], id: number, relation: PlaceRelation): boolean {
  return above.some((one) => one.id === id && one.relation === relation)
}

/** All that a place lies in by way of some: a place above another of them is that one's, and not its own besides. */
export function climb(direct: readonly Above[]): Ancestor[] {
  const nearest = new Map<string, Ancestor>()
  const add = (one: Ancestor): void => {
    const key = `${one.relation} ${one.id}`
    if ((nearest.get(key)?.depth ?? Number.POSITIVE_INFINITY) > one.depth) nearest.set(key, one)
  }
  for (const { id, relation, above } of direct) {
    if (!direct.some((other) => isWithin(other.above, id, relation) && other.relation === relation))
      add({ id, relation, depth: 1 })
    for (const one of above) if (one.relation === relation) add({ ...one, depth: one.depth + 1 })
  }
  return [...nearest.values()]
}

/** Whether two lists name the same places, at the same heights. */
export function areSame(a: readonly Ancestor[], b: readonly Ancestor[]): boolean {
  return (
    a.length === b.length &&
    a.every((one) =>
      b.some(({ id, relation, depth }) => id === one.id && relation === one.relation && depth === one.depth),
    )
  )
}
