import type { Slot } from './slots.ts'
import { isOpenPattern, type WaveState } from './waves.ts'

/** How the guesses of a slot stand. `total` is the number of all countries there are, `left` what could still be guessed. */
export function waveStateOf({ hubs, lastWave }: Slot, total: number, left: number): WaveState {
  let tried = 0
  let confirmed = 0
  let waiting = 0
  const listed = new Set<number>()
  for (const { origin, state, country, isGuess, isSeeded } of hubs.values()) {
    if (origin === 'listed' && state !== 'missing') listed.add(country.id)
    if (!isGuess) continue
    if (state === undefined) waiting += Number(isSeeded)
    else if (state !== 'open') {
      tried++
      confirmed += Number(state === 'confirmed')
    }
  }
  return { tried, confirmed, waiting, lastSize: lastWave, left, listedShare: total === 0 ? 0 : listed.size / total }
}

/** Whether the pattern of a slot holds for all countries. */
export function isOpenSlot(slot: Slot, total: number): boolean {
  return isOpenPattern(waveStateOf(slot, total, 0))
}

/** Countries that a slot has a hub of that was seen. */
export function listCovered({ hubs }: Slot): Set<number> {
  const covered = new Set<number>()
  for (const { state, country } of hubs.values()) if (state === 'confirmed') covered.add(country.id)
  return covered
}

/** What is known of a whole site: which countries it covers, and what nobody has looked at. */
export interface Coverage {
  /** The open slot with most hubs; undefined where there is none. */
  readonly slot: Slot | undefined
  readonly covered: ReadonlySet<number>
  readonly unverified: number
}

/** Adds up what the open slots of a site cover. */
export function coverageOf(slots: readonly Slot[], total: number): Coverage {
  const covered = new Set<number>()
  let best: Slot | undefined
  let most = -1
  let unverified = 0
  for (const slot of slots) {
    for (const { state } of slot.hubs.values()) unverified += Number(state === undefined || state === 'open')
    if (!isOpenSlot(slot, total)) continue
    const own = listCovered(slot)
    for (const id of own) covered.add(id)
    if (own.size <= most) continue
    most = own.size
    best = slot
  }
  return { slot: best, covered, unverified }
}

/** Share of the countries of which hubs have to be known before a site counts as understood. */
const UNDERSTOOD = 0.95

/** Whether a site is understood: it has hubs for nearly all countries, and each of them was looked at. */
export function isUnderstood({ slot, covered, unverified }: Coverage, total: number): boolean {
  return slot !== undefined && total > 0 && unverified === 0 && covered.size >= total * UNDERSTOOD
}
