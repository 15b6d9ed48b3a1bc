import { describe, expect, test } from 'vitest'
import { type Find, LEDGER_STATES, type LedgerState } from './ledger.ts'
import { applyFind, LEDGER_ACTIONS, nextState } from './transitions.ts'

/** The whole matrix, written a second time: rows are states, columns actions, `·` leaves the row alone. */
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

describe('the transitions of a row', () => {
  const [head = [], ...lines] = MATRIX.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))

  test('are listed for every state and action', () => {
    expect(head).toEqual([...LEDGER_ACTIONS])
    expect(lines.map(([state]) => state)).toEqual(['new', ...LEDGER_STATES])
  })

  test.each(lines)('from %s', (state, ...expected) => {
    // The names were compared with the lists above.
    const found = LEDGER_ACTIONS.map((action) => nextState(state as LedgerState | 'new', action) ?? '·')
    expect(found).toEqual(expected)
  })
})

describe('a find', () => {
  const find: Find = {
    key: 'https://docs.example/a',
    url: 'https://docs.example/a',
    host: 'docs.example',
    depth: 2,
    foundOn: null,
    discovery: 'link',
    refusal: null,
  }
  const refused: Find = { ...find, refusal: { reason: 'blocked', pattern: '/a', target: null } }
  const row = (state: LedgerState, more: object = {}) => ({
    state,
    reason: null,
    depth: 3,
    weight: 0,
    crawlId: 'before',
    hasPage: state === 'indexed' || state === 'unchanged',
    ...more,
  })

  test('of something new is admitted or refused', () => {
    expect(applyFind(undefined, find, 'now')).toMatchObject({ result: 'admitted', write: 'insert', state: 'pending' })
    expect(applyFind(undefined, refused, 'now')).toMatchObject({ result: 'refused', write: 'insert', state: 'skipped' })
  })

  test('of something new for which there is no room changes nothing', () => {
    for (const each of [find, refused]) {
      expect(applyFind(undefined, each, 'now', false)).toMatchObject({ result: 'overflow', write: 'none' })
    }
    expect(applyFind(row('failed'), find, 'now', false)).toMatchObject({ result: 'admitted', write: 'update' })
  })

  test.each(['session-id', 'path-trap', 'calendar-trap', 'same-content', 'overflow'] as const)(
    'that is refused as a trap, for %s, still has a page asked for that is there',
    (reason) => {
      const trap: Find = { ...find, refusal: { reason, pattern: 'x/#', target: null } }
      expect(applyFind(row('unchanged'), trap, 'now')).toMatchObject({ result: 'admitted', state: 'pending' })
      expect(applyFind(row('failed', { hasPage: true }), trap, 'now')).toMatchObject({ result: 'admitted' })
      expect(applyFind(row('pending', { hasPage: true }), trap, 'now')).toMatchObject({
        result: 'known',
        write: 'touch',
      })
      expect(applyFind(row('skipped'), trap, 'now')).toMatchObject({ result: 'refused', state: 'skipped' })
      const settled = row('indexed', { crawlId: 'now' })
      expect(applyFind(settled, trap, 'now')).toMatchObject({ result: 'known', write: 'none' })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'of a row that is %s since an earlier crawl admits it again',
    (state) => {
      expect(applyFind(row(state), find, 'now')).toMatchObject({
        result: 'admitted',
        write: 'update',
        state: 'pending',
        depth: 2,
      })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'of a row that this crawl settled as %s does nothing',
    (state) => {
      const settled = row(state, { crawlId: 'now', reason: state === 'skipped' ? 'noindex' : null })
      expect(applyFind(settled, find, 'now')).toMatchObject({ result: 'known', write: 'none', state })
    },
  )

  test('that names what a plan of this crawl supposed in vain makes a failure of it', () => {
    const missed = row('skipped', { crawlId: 'now', reason: 'guess-missed' })
    expect(applyFind(missed, find, 'now')).toMatchObject({ result: 'named', write: 'name', state: 'failed' })
    expect(applyFind(missed, { ...find, discovery: 'planner' }, 'now')).toMatchObject({
      result: 'known',
      write: 'none',
    })
    expect(applyFind({ ...missed, crawlId: 'before' }, find, 'now')).toMatchObject({ result: 'admitted' })
  })

  test('by a shorter way overrules a refusal of the same crawl', () => {
    const tooDeep = row('skipped', { crawlId: 'now', reason: 'max-depth' })
    expect(applyFind(tooDeep, find, 'now')).toMatchObject({ result: 'admitted', state: 'pending', depth: 2 })
  })

  test('of a waiting row keeps the least depth', () => {
    expect(applyFind(row('pending', { crawlId: 'now' }), find, 'now')).toMatchObject({
      result: 'known',
      write: 'touch',
      depth: 2,
    })
    expect(applyFind(row('pending', { crawlId: 'now', depth: 1 }), find, 'now')).toMatchObject({ write: 'none' })
  })

  test('of a waiting row keeps the least weight of its own crawl, and takes any of another', () => {
    const light: Find = { ...find, depth: 3, weight: -5 }
    const heavy: Find = { ...light, weight: 5 }
    const own = row('pending', { crawlId: 'now' })
    expect(applyFind(own, light, 'now')).toMatchObject({ result: 'known', write: 'touch', depth: 3, weight: -5 })
    expect(applyFind(own, heavy, 'now')).toMatchObject({ write: 'none' })
    expect(applyFind(row('leased'), heavy, 'now')).toMatchObject({ write: 'touch', weight: 5 })
  })

  test('that admits a row weighs it anew: what was refused was not weighed', () => {
    const heavy: Find = { ...find, weight: 5 }
    expect(applyFind(undefined, heavy, 'now')).toMatchObject({ write: 'insert', weight: 5 })
    const tooDeep = row('skipped', { crawlId: 'now', reason: 'max-depth' })
    expect(applyFind(tooDeep, heavy, 'now')).toMatchObject({ result: 'admitted', weight: 5 })
    expect(applyFind(row('indexed', { weight: -9 }), heavy, 'now')).toMatchObject({ result: 'admitted', weight: 5 })
  })

  test.each(['indexed', 'unchanged', 'failed', 'pending', 'skipped'] as const)(
    'that is refused leaves a row alone that is %s and holds content',
    (state) => {
      expect(applyFind(row(state, { hasPage: true }), refused, 'now')).toMatchObject({
        result: 'known',
        write: 'none',
        state,
      })
    },
  )

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'that is refused leaves a row alone that this crawl settled as %s',
    (state) => {
      const covered: Find = { ...find, refusal: { reason: 'covered', pattern: null, target: 'b' } }
      for (const each of [refused, covered]) {
        expect(applyFind(row(state, { crawlId: 'now' }), each, 'now')).toMatchObject({ result: 'known', write: 'none' })
      }
    },
  )

  test('that is refused takes a waiting row without content out of the frontier', () => {
    expect(applyFind(row('pending'), refused, 'now')).toMatchObject({
      result: 'refused',
      write: 'update',
      state: 'skipped',
    })
  })

  test.each(['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const)(
    'that counts for new addresses only leaves a row alone that is %s',
    (state) => {
      expect(applyFind(row(state), { ...find, isNewOnly: true }, 'now')).toMatchObject({
        result: 'known',
        write: 'none',
      })
    },
  )

  test.each([find, refused])('that counts for new addresses only leaves alone what waits for another crawl', (each) => {
    expect(applyFind(row('pending'), { ...each, isNewOnly: true }, 'now')).toMatchObject({
      result: 'known',
      write: 'none',
      state: 'pending',
    })
  })

  test('that counts for new addresses only still admits what a refresh had put aside', () => {
    const aside = row('skipped', { reason: 'new-in-refresh' })
    expect(applyFind(aside, { ...find, isNewOnly: true }, 'now')).toMatchObject({
      result: 'admitted',
      state: 'pending',
    })
  })

  test('that is refused does not take back what this crawl has admitted by another way', () => {
    const admitted = row('pending', { crawlId: 'now' })
    expect(applyFind(admitted, refused, 'now')).toMatchObject({ result: 'known', write: 'none', state: 'pending' })
    const elsewhere: Find = { ...find, refusal: { reason: 'covered', pattern: null, target: 'b' } }
    expect(applyFind(admitted, elsewhere, 'now')).toMatchObject({ result: 'refused', state: 'skipped' })
  })
})
