import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * Comments, test titles and documentation have to be clear at the first reading. These rules find texts that often are not. A few
 * exceptions are allowed, because a text can be clear in spite of a rule.
 */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MAX_COMMENT_SHARE = 0.02
const MAX_TITLE_SHARE = 0.01
const MAX_PROSE_SHARE = 0.05
const MAX_SENTENCE_WORDS = 35

/** Words that leave open who acts. The text should name the user, process, worker, client, server or caller. */
const UNNAMED_ACTOR = /\b(?:whoever|whomever|nobody|somebody|anybody|no one|someone)\b/i
/** A relative clause or a preposition at the start puts the subject last. */
const LATE_SUBJECT = /^(?:what|who|whose|whoever|whatever|those|such|of|by|nothing|none|as many|so many|to whom)\b/i
/** Old-fashioned or figurative phrases that have a plain equivalent. */
const FIGURATIVE =
  /\b(?:in vain|thereby|therein|thereof|of late|that very|as good as|in step|of its own accord|may be had|to be had)\b/i
/** A title is read alone in a report, so it must not continue another sentence. */
const CONTINUED = /^(?:with|without|for|from|in|on|at|to|as|and|but|or|nor|so|that|which|where|also|too|than)\b/i

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\n')
  .filter((file) => existsSync(join(ROOT, file)))

/** The comments of a TypeScript or JavaScript file. Lines that follow each other are one comment. */
function commentsOf(code: string): string[] {
  const found = code.matchAll(/\/\*+([\s\S]*?)\*\/|(?<=^|\s)\/\/ (.*(?:\n\s*\/\/ .*)*)/g)
  return [...found].map(([, block, lines]) => (block ?? lines ?? '').replace(/^\s*(?:\*|\/\/) ?/gm, '').trim())
}

function titlesOf(code: string): string[] {
  const found = code.matchAll(/\b(?:test|it)(?:\.each\([^)]*\))?\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g)
  return [...found].map(([, , title = '']) => title)
}

/** The sentences of a Markdown file, without code blocks and tables. */
function sentencesOf(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/^\|.*$/gm, '')
  return prose.split(/(?<=[.!?])\s+|\n\n+/).map((sentence) => sentence.replace(/\s+/g, ' ').trim())
}

const isLong = (text: string, maxWords: number) => text.split(/\s+/).length > maxWords
const isUnclear = (text: string) => UNNAMED_ACTOR.test(text) || FIGURATIVE.test(text)
const isUnclearComment = (text: string) => isUnclear(text) || LATE_SUBJECT.test(text)
const isUnclearTitle = (text: string) => isUnclearComment(text) || CONTINUED.test(text)
const isUnclearSentence = (text: string) => isUnclear(text) || isLong(text, MAX_SENTENCE_WORDS)

/** The share of texts that break a rule, with the texts to correct. */
function check(filePattern: RegExp, textsOf: (content: string) => string[], isFlagged: (text: string) => boolean) {
  const texts = files
    .filter((file) => filePattern.test(file))
    .flatMap((file) => textsOf(readFileSync(join(ROOT, file), 'utf8')).map((text) => ({ file, text })))
    .filter(({ text }) => isLong(text, 2) && !text.startsWith('@'))
  const flagged = texts.filter(({ text }) => isFlagged(text)).map(({ file, text }) => `${file}: ${text.slice(0, 100)}`)
  return { count: texts.length, share: flagged.length / texts.length, flagged: flagged.join('\n') }
}

describe('plain text', () => {
  test('at most 2 % of the comments are likely to be unclear', () => {
    const { count, share, flagged } = check(/\.(?:ts|tsx|mjs)$/, commentsOf, isUnclearComment)
    expect(count).toBeGreaterThan(5000)
    expect(share, flagged).toBeLessThanOrEqual(MAX_COMMENT_SHARE)
  })

  test('at most 1 % of the test titles are likely to be unclear', () => {
    const { count, share, flagged } = check(/\.test\.tsx?$/, titlesOf, isUnclearTitle)
    expect(count).toBeGreaterThan(2000)
    expect(share, flagged).toBeLessThanOrEqual(MAX_TITLE_SHARE)
  })

  test('at most 5 % of the sentences in the documentation are likely to be unclear', () => {
    const { count, share, flagged } = check(
      /^(?:docs\/|deploy\/)?[^/]*\.md$|^docs\/.*\.md$/,
      sentencesOf,
      isUnclearSentence,
    )
    expect(count).toBeGreaterThan(1000)
    expect(share, flagged).toBeLessThanOrEqual(MAX_PROSE_SHARE)
  })

  test.each([
    ['What nobody has asked for', isUnclearComment],
    ['Of the answers the last', isUnclearComment],
    ['but for a number on page after page ends it', isUnclearTitle],
    ['It is asked for in vain', isUnclearSentence],
    [`A sentence ${'that goes on '.repeat(12)}.`, isUnclearSentence],
  ])('the rules flag "%s"', (text, isFlagged) => {
    expect(isFlagged(text)).toBe(true)
  })

  test('the rules accept a plain comment, title and sentence', () => {
    const plain = 'Stops after 101 list pages that differ only in their number.'
    expect([isUnclearComment, isUnclearTitle, isUnclearSentence].map((isFlagged) => isFlagged(plain))).toEqual([
      false,
      false,
      false,
    ])
  })
})
