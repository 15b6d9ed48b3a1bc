import { describe, expect, test } from 'vitest'
import { createPagePrior } from './page-prior.ts'

describe('createPagePrior', () => {
  const prior = createPagePrior('how to start a process')

  test.each([
    'https://docs.example/whatsnew/3.11.html',
    'https://docs.example/release-15-2.html',
    'https://docs.example/genindex-S.html',
    'https://docs.example/en/glossary/',
    'https://docs.example/blog/2024/hello',
    'file:///repo/CHANGELOG.md',
    'https://git.example/repo/blob/main/package-lock.json',
    'https://git.example/repo/blob/main/Cargo.lock',
  ])('ranks %s below guides', (url) => {
    expect(prior(url)).toBeLessThan(1)
  })

  test.each([
    'https://docs.example/guide/process.html',
    'https://docs.example/howto/keep-canonical-history-correct.html',
    'https://changelog.example/guide',
    'https://docs.example/api/history',
    'file:///blog/of/mine/with/guides/start.md',
    'https://docs.example/guide?tab=changelog#history',
    'https://docs.example/locks.html',
    'not an address',
  ])('leaves %s unchanged', (url) => {
    expect(prior(url)).toBe(1)
  })

  test.each(['what changed in 3.11', 'release notes', 'glossary of terms', 'since which version'])(
    'leaves record pages unchanged when %j asks for them',
    (question) => {
      expect(createPagePrior(question)('https://docs.example/whatsnew/3.11.html')).toBe(1)
    },
  )
})
