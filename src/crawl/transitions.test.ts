import { describe, expect, test } from 'vitest'
import type { FoundAddress } from './ledger.ts'
import { LEDGER_STATES, type LedgerState } from './ledger-reasons.ts'
import { decideRowChange, LEDGER_ACTIONS, nextState } from './transitions.ts'

/** The full matrix, repeated here: rows are states, columns are actions, `·` means no change. */
const MATRIX = `
            admit    refuse   lease    index    confirm    skip     fail     postpone requeue  demote   remove
new         pending  skipped  ·        indexed  ·          ·        ·        ·        ·        ·        ·
pending     ·        skipped  leased   indexed  unchanged  ·        failed   ·        ·        ·        ·
leased      ·        ·        ·        indexed  unchanged  skipped  failed   pending  ·        ·        ·
indexed     pending  ·        ·        indexed  unchanged  ·        ·        ·        pending  skipped  gone
unchanged   pending  ·        ·        indexed  unchanged  ·        ·        ·        pending  skipped  gone
skipped     pending  skipped  ·        indexed  unchanged  ·        ·        ·        pending  skipped  ·
failed      pending  skipped  ·        indexed  unchanged  ·        ·        ·        pending  skipped  gone
gone        pending  skipped  ·        indexed  unchanged  ·        ·        ·        ·        ·        ·
`

describe('transitions of a row', () => {
  const [head = [], ...lines] = MATRIX.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))

  test('cover every state and action', () => {
    expect(head).toEqual([...LEDGER_ACTIONS])
    expect(lines.map(([state]) => state)).toEqual(['new', ...LEDGER_STATES])
  })

  test.each(lines)('match the matrix from state %s', (state, ...expected) => {
    // The test above has compared the names with the lists.
    const found = LEDGER_ACTIONS.map((action) => nextState(state as LedgerState | 'new', action) ?? '·')
    expect(found).toEqual(expected)
  })
})

describe('decideRowChange', () => {
  const find: FoundAddress = {
    key: 'https://docs.example/a',
    url: 'https://docs.example/a',
    host: 'docs.example',
    depth: 2,
    foundOn: null,
    discovery: 'link',
    refusal: null,
  }
  const refused: FoundAddress = { ...find, refusal: { reason: 'blocked', pattern: '/a', target: null } }
  const row = (state: LedgerState, more: object = {}) => ({
    state,
    reason: null,
    depth: 3,
    weight: 0,
    crawlId: 'before',
    hasPage: state === 'indexed' || state === 'unchanged',
    ...more,
  })

  test('admits or refuses a new address', () => {
    expect(decideRowChange(undefined, find, 'now')).toMatchObject({
      result: 'admitted',
      write: 'insert',
      state: 'pending',
    })
    expect(decideRowChange(undefined, refused, 'now')).toMatchObject({
      result: 'refused',
      write: 'insert',
      state: 'skipped',
    })
  })

  test('records nothing for a new address if the ledger is full', () => {
    for (const each of [find, refused]) {
      expect(decideRowChange(undefined, each, 'now', false)).toMatchObject({ result: 'overflow', write: 'none' })
    }
    expect(decideRowChange(row('failed'), find, 'now', false)).toMatchObject({ result: 'admitted', write: 'update' })
  })

  test.each(['session-id', 'path-trap', 'calendar-trap', 'same-content', 'overflow'] as const)(
    'admits a stored page although it looks like a trap: %s',
    (reason) => {
      const trap: FoundAddress = { ...find, refusal: { reason, pattern: 'x/#', target: null } }
      expect(decideRowChange(row('unchanged'), trap, 'now')).toMatchObject({ result: 'admitted', state: 'pending' })
      expect(decideRowChange(row('failed', { hasPage: true }), trap, 'now')).toMatchObject({ result: 'admitted' })
      expect(decideRowChange(row('pending', { hasPage: true }), trap, 'now')).toMatchObject({
        result: 'known',
        write: 'touch',
      })
      expect(decideRowChange(row('skipped'), trap, 'now')).toMatchObject({ result: 'refused', state: 'skipped' })
      const settled = row('indexed', { crawlId: 'now' })
      expect(decideRowChange(settled, trap, 'now')).toMatchObject({ result: 'known', write: 'none' })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'admits a row again that an earlier crawl settled as %s',
    (state) => {
      expect(decideRowChange(row(state), find, 'now')).toMatchObject({
        result: 'admitted',
        write: 'update',
        state: 'pending',
        depth: 2,
      })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'does not change a row that this crawl settled as %s',
    (state) => {
      const settled = row(state, { crawlId: 'now', reason: state === 'skipped' ? 'noindex' : null })
      expect(decideRowChange(settled, find, 'now')).toMatchObject({ result: 'known', write: 'none', state })
    },
  )

  test('turns a missed guess of this crawl into a failure when the site names it', () => {
    const missed = row('skipped', { crawlId: 'now', reason: 'guess-missed' })
    expect(decideRowChange(missed, find, 'now')).toMatchObject({ result: 'named', write: 'name', state: 'failed' })
    expect(decideRowChange(missed, { ...find, discovery: 'planner' }, 'now')).toMatchObject({
      result: 'known',
      write: 'none',
    })
    expect(decideRowChange({ ...missed, crawlId: 'before' }, find, 'now')).toMatchObject({ result: 'admitted' })
  })

  test('admits a row that the same crawl had refused, if a shorter path leads to it', () => {
    const tooDeep = row('skipped', { crawlId: 'now', reason: 'max-depth' })
    expect(decideRowChange(tooDeep, find, 'now')).toMatchObject({ result: 'admitted', state: 'pending', depth: 2 })
  })

  test('keeps the smallest depth of a waiting row', () => {
    expect(decideRowChange(row('pending', { crawlId: 'now' }), find, 'now')).toMatchObject({
      result: 'known',
      write: 'touch',
      depth: 2,
    })
    expect(decideRowChange(row('pending', { crawlId: 'now', depth: 1 }), find, 'now')).toMatchObject({ write: 'none' })
  })

  test('keeps the smallest weight of a waiting row of the same crawl, and replaces that of another crawl', () => {
    const light: FoundAddress = { ...find, depth: 3, weight: -5 }
    const heavy: FoundAddress = { ...light, weight: 5 }
    const own = row('pending', { crawlId: 'now' })
    expect(decideRowChange(own, light, 'now')).toMatchObject({ result: 'known', write: 'touch', depth: 3, weight: -5 })
    expect(decideRowChange(own, heavy, 'now')).toMatchObject({ write: 'none' })
    expect(decideRowChange(row('leased'), heavy, 'now')).toMatchObject({ write: 'touch', weight: 5 })
  })

  test('sets a new weight when it admits a row', () => {
    const heavy: FoundAddress = { ...find, weight: 5 }
    expect(decideRowChange(undefined, heavy, 'now')).toMatchObject({ write: 'insert', weight: 5 })
    const tooDeep = row('skipped', { crawlId: 'now', reason: 'max-depth' })
    expect(decideRowChange(tooDeep, heavy, 'now')).toMatchObject({ result: 'admitted', weight: 5 })
    expect(decideRowChange(row('indexed', { weight: -9 }), heavy, 'now')).toMatchObject({
      result: 'admitted',
      weight: 5,
    })
  })

  test.each(['indexed', 'unchanged', 'failed', 'pending', 'skipped'] as const)(
    'does not let a refusal change a row in state %s that holds content',
    (state) => {
      expect(decideRowChange(row(state, { hasPage: true }), refused, 'now')).toMatchObject({
        result: 'known',
        write: 'none',
        state,
      })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'does not let a refusal change a row that this crawl settled as %s',
    (state) => {
      const covered: FoundAddress = { ...find, refusal: { reason: 'covered', pattern: null, target: 'b' } }
      for (const each of [refused, covered]) {
        expect(decideRowChange(row(state, { crawlId: 'now' }), each, 'now')).toMatchObject({
          result: 'known',
          write: 'none',
        })
      }
    },
  )

  test('takes a waiting row without content out of the frontier after a refusal', () => {
    expect(decideRowChange(row('pending'), refused, 'now')).toMatchObject({
      result: 'refused',
      write: 'update',
      state: 'skipped',
    })
  })

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'does not change a row in state %s if isNewOnly is set',
    (state) => {
      expect(decideRowChange(row(state), { ...find, isNewOnly: true }, 'now')).toMatchObject({
        result: 'known',
        write: 'none',
      })
    },
  )

  test.each([find, refused])('does not change a row that waits for another crawl if isNewOnly is set', (each) => {
    expect(decideRowChange(row('pending'), { ...each, isNewOnly: true }, 'now')).toMatchObject({
      result: 'known',
      write: 'none',
      state: 'pending',
    })
  })

  test('admits a row that a refresh had set aside even if isNewOnly is set', () => {
    const aside = row('skipped', { reason: 'new-in-refresh' })
    expect(decideRowChange(aside, { ...find, isNewOnly: true }, 'now')).toMatchObject({
      result: 'admitted',
      state: 'pending',
    })
  })

  test('keeps a row that this crawl has admitted by another path, unless its content is at another address', () => {
    const admitted = row('pending', { crawlId: 'now' })
    expect(decideRowChange(admitted, refused, 'now')).toMatchObject({
      result: 'known',
      write: 'none',
      state: 'pending',
    })
    const elsewhere: FoundAddress = { ...find, refusal: { reason: 'covered', pattern: null, target: 'b' } }
    expect(decideRowChange(admitted, elsewhere, 'now')).toMatchObject({ result: 'refused', state: 'skipped' })
  })
})
