import { expect, test } from 'vitest'
import { ProgressMilestones } from './progress-milestones.ts'

/** Kinds of milestones reached by a number of equal pages. */
function reach(milestones: ProgressMilestones, count: number, page: { depth?: number; isArticle?: boolean } = {}) {
  const visit = { isPage: true, depth: 1, bytes: 1, isArticle: false, ...page }
  return Array.from({ length: count }, () => milestones.note(visit))
    .flat()
    .map(({ kind }) => kind)
}

test('each milestone is emitted once, when it is reached', () => {
  const milestones = new ProgressMilestones('https://news.example/')
  expect(reach(milestones, 9, { depth: 2 })).toEqual([])
  expect(reach(milestones, 1, { depth: 2 })).toEqual(['depth2-coverage'])
  expect(reach(milestones, 989)).toEqual([])
  expect(reach(milestones, 1)).toEqual(['downloads-1k'])
  expect(reach(milestones, 999, { isArticle: true })).toEqual([])
  const [event] = milestones.note({ isPage: true, depth: 2, bytes: 1, isArticle: true })
  expect(event).toMatchObject({ kind: 'articles-identified-1k', target: 'https://news.example/' })
  expect(event?.details).toEqual({ articles: 1000 })
  expect(reach(milestones, 9000, { isArticle: true })).toEqual(['articles-identified-10k'])
  expect(milestones.isOpen).toBe(false)
})

test('a resumed crawl continues the counts', () => {
  const milestones = new ProgressMilestones('https://news.example/')
  milestones.resume({ kinds: ['depth2-coverage'], counts: { secondLevel: 12, downloads: 998, articles: 0 } })
  expect(reach(milestones, 2, { depth: 2 })).toEqual(['downloads-1k'])
})

test('a milestone that several processes reach together is emitted once', () => {
  const milestones = new ProgressMilestones('https://news.example/')
  expect(reach(milestones, 6, { depth: 2 })).toEqual([])
  const counts = { secondLevel: 11, downloads: 990, articles: 0 }
  expect(milestones.take({ kinds: [], counts })).toMatchObject([{ kind: 'depth2-coverage' }])
  expect(milestones.take({ kinds: ['depth2-coverage'], counts })).toEqual([])
  expect(reach(milestones, 10, { depth: 2 })).toEqual(['downloads-1k'])
})

test('a milestone reached while other processes are counted is emitted once', () => {
  const milestones = new ProgressMilestones('https://news.example/')
  expect(reach(milestones, 1000)).toEqual(['downloads-1k'])
  expect(milestones.take({ kinds: [], counts: { secondLevel: 0, downloads: 1000, articles: 0 } })).toEqual([])
})

test('visits without a download or page do not count', () => {
  const milestones = new ProgressMilestones('https://news.example/')
  milestones.resume({ kinds: [], counts: { secondLevel: 9, downloads: 999, articles: 999 } })
  expect(milestones.note({ isPage: false, depth: 2, bytes: 0, isArticle: true })).toEqual([])
})
