import { describe, expect, test } from 'vitest'
import { ANY_PATH, ChangeDebouncer, DEBOUNCE_LIMITS } from './debounce-changes.ts'

const UNBATCHED = { ...DEBOUNCE_LIMITS, batchWindowMs: 0 }
const LIMITS = { ...UNBATCHED, maxPaths: 3, maxEvents: 20 }

describe('ChangeDebouncer', () => {
  test('a path is ready one second after its last change, independently of others', () => {
    const changes = new ChangeDebouncer(UNBATCHED)
    expect(changes.nextAt()).toBe(null)
    changes.note('a.md', 0)
    changes.note('b.md', 400)
    changes.note('a.md', 900)
    expect(changes.nextAt()).toBe(1400)
    expect(changes.take(1399)).toEqual([])
    expect(changes.take(1400)).toEqual(['b.md'])
    expect(changes.take(1899)).toEqual([])
    expect(changes.take(1900)).toEqual(['a.md'])
    expect(changes.nextAt()).toBe(null)
  })

  test('a path with continuous changes is ready after 30 seconds at the latest', () => {
    const changes = new ChangeDebouncer(UNBATCHED)
    const taken: number[] = []
    for (let now = 0; now <= 70_000; now += 500) {
      changes.note('log.txt', now)
      if (changes.take(now).length > 0) taken.push(now)
    }
    expect(taken).toEqual([30_000, 60_500])
  })

  test.each(['.gitignore', 'sub/.pharosignore', 'out/manifest.llm.tsv', ANY_PATH])(
    'a change of %j counts as a change of everything',
    (path) => {
      const changes = new ChangeDebouncer(UNBATCHED)
      changes.note('a.md', 0)
      changes.note(path, 500)
      changes.note('b.md', 700)
      expect(changes.take(1699)).toEqual([])
      expect(changes.take(1700)).toEqual([ANY_PATH])
      expect(changes.nextAt()).toBe(null)
    },
  )

  test('events at the limit of paths or events count as a change of everything', () => {
    const paths = new ChangeDebouncer(LIMITS)
    for (const path of ['a', 'b', 'c', 'd']) paths.note(path, 0)
    expect(paths.take(1000)).toEqual([ANY_PATH])
    const events = new ChangeDebouncer(LIMITS)
    for (let i = 0; i < 20; i++) events.note('a', 0)
    expect(events.take(1000)).toEqual([ANY_PATH])
    for (let i = 0; i < 19; i++) events.note('a', 2000)
    expect(events.take(3000)).toEqual(['a'])
  })

  test('paths that become ready shortly after each other are taken together', () => {
    const changes = new ChangeDebouncer()
    changes.note('a.md', 0)
    changes.note('b.md', 200)
    changes.note('c.md', 300)
    expect([changes.nextAt(), changes.take(1249), changes.take(1250)]).toEqual([1250, [], ['a.md', 'b.md']])
    expect(changes.take(1550)).toEqual(['c.md'])
  })

  test('changes noted at minus infinity are ready at once', () => {
    const changes = new ChangeDebouncer()
    changes.note(ANY_PATH, Number.NEGATIVE_INFINITY)
    expect(changes.take(0)).toEqual([ANY_PATH])
  })
})
