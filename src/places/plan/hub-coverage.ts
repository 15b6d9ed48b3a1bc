import type { Slot } from './slot.ts'
import { isExhaustivePattern, type WaveState } from './waves.ts'

/** The state of a slot's guesses. */
export function waveStateOf({ hubs, lastWaveSize, names, placeIds, unguessableIds }: Slot): WaveState {
  let tried = 0
  let confirmed = 0
  let waiting = 0
  const listed = new Set<number>()
  for (const { origin, state, place, isGuess, isSeeded } of hubs.values()) {
    if (origin === 'listed' && state !== 'missing') listed.add(place.id)
    if (!isGuess) continue
    if (state === undefined) waiting += Number(isSeeded)
    else if (state !== 'open') {
      tried++
      confirmed += Number(state === 'confirmed')
    }
  }
  const total = names.all.length
  const left = Math.max(0, total - placeIds.size - unguessableIds.size)
  return { tried, confirmed, waiting, lastSize: lastWaveSize, left, listedShare: total === 0 ? 0 : listed.size / total }
}

/** Whether the pattern of a slot holds for all places of its kind. */
export function isExhaustiveSlot(slot: Slot): boolean {
  return isExhaustivePattern(waveStateOf(slot))
}

/** Places for which a slot has a confirmed hub. */
export function listConfirmedPlaces({ hubs }: Slot): Set<number> {
  const covered = new Set<number>()
  for (const { state, place } of hubs.values()) if (state === 'confirmed') covered.add(place.id)
  return covered
}

/** Which countries a whole site covers, and how many of its country hubs are not verified yet. */
export interface Coverage {
  /** The exhaustive country slot with the most confirmed hubs; undefined when there is none. */
  readonly slot: Slot | undefined
  readonly covered: ReadonlySet<number>
  readonly unverified: number
}

/** Collects the countries that the exhaustive slots of a site cover. */
export function coverageOf(slots: readonly Slot[]): Coverage {
  const covered = new Set<number>()
  let best: Slot | undefined
  let bestCount = -1
  let unverified = 0
  for (const slot of slots) {
    if (slot.kind !== 'country') continue
    for (const { state } of slot.hubs.values()) unverified += Number(state === undefined || state === 'open')
    if (!isExhaustiveSlot(slot)) continue
    const confirmedPlaces = listConfirmedPlaces(slot)
    for (const id of confirmedPlaces) covered.add(id)
    if (confirmedPlaces.size <= bestCount) continue
    bestCount = confirmedPlaces.size
    best = slot
  }
  return { slot: best, covered, unverified }
}

/** Share of countries with known hubs from which a site counts as understood. */
const UNDERSTOOD_SHARE = 0.95

/** Whether a site is understood: it has hubs for nearly all countries, and all of them are verified. */
export function isUnderstood({ slot, covered, unverified }: Coverage): boolean {
  const total = slot?.names.all.length ?? 0
  return total > 0 && unverified === 0 && covered.size >= total * UNDERSTOOD_SHARE
}
