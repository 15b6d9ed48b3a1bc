import { waitUntilResumed } from '../../crawl/control.ts'
import { skipForCap } from '../../crawl/finish.ts'
import type { Visit } from '../../crawl/ledger.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import type { Settlement } from '../../crawl/settlement.ts'
import { partKey } from '../ports/tree.ts'
import { type ActiveTree, createFoundAddress } from './active-tree.ts'

/** Number of files read concurrently; the result does not depend on it. */
const MAX_READERS = 8
/** Number of visits leased at once. */
const VISIT_BATCH_SIZE = 128

/** Visits until nothing is due or the page cap is reached. */
export async function visitAll(active: ActiveTree, cap: number | null): Promise<void> {
  const { run, ports, signal } = active
  for (;;) {
    signal.throwIfAborted()
    await waitUntilResumed(ports.control, signal)
    const now = ports.clock.now()
    const remaining = cap === null ? VISIT_BATCH_SIZE : cap - active.pagesTaken
    if (remaining <= 0) {
      const { left, kept } = await skipForCap(ports.ledger, run, String(cap), now)
      if (left > 0) active.cappedAt = cap
      active.keptByCap += kept
      return
    }
    const visits = await ports.ledger.lease({
      sourceId: run.sourceId,
      crawlId: run.crawlId,
      limit: Math.min(remaining, VISIT_BATCH_SIZE),
      now,
      until: now + run.limits.leaseMs,
      horizon: now,
      isBreadthFirst: false,
    })
    if (visits.length === 0) return
    await visitTogether(active, visits)
  }
}

/**
 * Makes visits concurrently. Unstarted visits are released if one fails, on abort, or when a file turns out to have several pages, because
 * those come first.
 */
async function visitTogether(active: ActiveTree, visits: readonly Visit[]): Promise<void> {
  const { ports, signal } = active
  const waiting = [...visits]
  let hasParts = false
  const runReader = async (number: number): Promise<void> => {
    while (waiting.length > 0 && !signal.aborted && !hasParts) {
      await waitUntilResumed(ports.control, signal)
      // Readers above the limit stop; they take part again in the next batch if the limit is raised.
      if (number >= (ports.control?.maxVisits ?? MAX_READERS)) return
      const visit = waiting.shift()
      if (visit !== undefined && (await visitFile(active, visit))) hasParts = true
    }
  }
  const readers = Array.from({ length: MAX_READERS }, (_, number) => runReader(number))
  try {
    await Promise.all(readers)
  } finally {
    const unread = waiting.splice(0)
    await Promise.allSettled(readers)
    await ports.ledger.release(unread)
  }
}

/** Visits a file; returns true if that added new visits. */
async function visitFile(active: ActiveTree, visit: Visit): Promise<boolean> {
  const { ports, run, visiting } = active
  visiting.set(visit.url, ports.clock.now())
  active.events.push({ type: 'begun', url: visit.url, depth: visit.depth })
  let hasNewVisits = false
  try {
    const { bytes, ...outcome } = await readVisit(active, visit)
    const settlement: Settlement = { visit, crawlId: run.crawlId, now: ports.clock.now(), ...outcome }
    const settled = await ports.ledger.settle(settlement)
    active.count(settlement, settled, bytes)
    hasNewVisits = settled.finds.includes('admitted')
  } catch (error) {
    await ports.ledger.release([visit])
    throw error
  } finally {
    visiting.delete(visit.url)
  }
  await active.events.waitForRoom()
  return hasNewVisits
}

/** Settlement of a visit and the number of bytes read. */
interface Outcome extends Omit<Settlement, 'visit' | 'crawlId' | 'now'> {
  readonly bytes: number
}

/** Reads the file of a visit. Only an observed absence proves a loss: an unreadable file keeps its page. */
async function readVisit(active: ActiveTree, visit: Visit): Promise<Outcome> {
  const { run, ports, survey } = active
  const { key, hasPage } = visit
  const pathState = survey.stateOf(key)
  if (pathState === 'unreadable')
    return { state: 'failed', reason: 'unreadable', detail: 'the folder cannot be read', bytes: 0 }
  if (typeof pathState === 'object') {
    const { reason, pattern } = pathState
    if (RECOVERABLE_REASONS.has(reason) && hasPage) return { state: 'failed', reason, pattern, bytes: 0 }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, bytes: 0 }
  }
  const container = active.containers.get(key)
  const known = container ?? { version: visit.etag, stamp: visit.lastModified }
  const file = survey.findFile(key) ?? { path: key, part: null }
  const isFull = run.full && (visit.checkedAt ?? 0) <= (run.fullSince ?? Number.POSITIVE_INFINITY)
  const reading = await ports.tree.read(file, isFull ? { version: null, stamp: null } : known)
  if (reading.type === 'missing') return { state: 'failed', reason: 'not-found', isProvenGone: hasPage, bytes: 0 }
  if (reading.type === 'failed') return { state: 'failed', reason: reading.reason, detail: reading.detail, bytes: 0 }
  const { version: etag, stamp: lastModified, bytes, detail } = reading
  // A new commit changes the addresses of unchanged files; an old commit may disappear one day.
  const url = active.addressOf(key)
  const common = { etag, lastModified, url, contentUrl: url, detail, bytes }
  // The page is removed at the end of the run. If the run is interrupted before, the next run must check the file again, so its validators
  // are cleared.
  const clearedValidators = hasPage ? { etag: null, lastModified: null } : {}
  if (reading.type === 'unchanged' && container !== undefined) {
    const finds = container.parts.map((part) => createFoundAddress(active, part, active.judge(key)))
    return { state: 'skipped', reason: 'container', finds, ...common }
  }
  if (reading.type === 'unchanged') return { state: 'unchanged', ...common }
  if (reading.type === 'no-page') {
    const { reason, pattern } = reading
    // A file that cannot be read now proves nothing about its earlier page.
    if (RECOVERABLE_REASONS.has(reason) && hasPage) return { state: 'failed', reason, detail, bytes }
    return { state: 'skipped', reason, pattern, isProvenGone: hasPage, ...common, ...clearedValidators }
  }
  if (reading.type === 'container') {
    // A negative weight puts the pages next, while the converted file is still cached.
    const finds = reading.parts.map((part) => ({
      ...createFoundAddress(active, partKey(key, part), active.judge(key)),
      weight: -1,
    }))
    return { state: 'skipped', reason: 'container', isProvenGone: hasPage, finds, ...common, ...clearedValidators }
  }
  const { record } = reading
  const isSame = hasPage && visit.contentHash === record.page.contentHash && !isFull && reading.isRecut !== true
  return { state: isSame ? 'unchanged' : 'indexed', record, ...common }
}

/** Reasons why a file has no page now but may have one later: it is too large, damaged or encrypted. */
const RECOVERABLE_REASONS: ReadonlySet<Reason> = new Set<Reason>(['too-large', 'damaged', 'encrypted'])
