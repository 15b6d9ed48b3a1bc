import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'
import { expect, test } from 'vitest'
import { type Attack, listAttacks } from './pattern-attacks.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Files and the beginnings of their patterns that may be slow, with the reason why that does no harm. */
const SHORT_INPUT: Readonly<Record<string, readonly string[]>> = {
  'the user types the text': [
    String.raw`src/cli/run.ts (?<!\s)\s*\n\(Did you mean`,
    String.raw`src/cli/verbs/eval.ts ^\s*([^=]*?)\s*=`,
    String.raw`src/core/url/postgres-address.ts (:\/\/`,
  ],
  'the text is part of the program': ['src/http/openapi.ts :(', 'src/http/pages/layout.ts <li'],
  'the caller cuts the text, to at most 4,096 characters': [
    'src/documents/formats.ts ^',
    String.raw`src/documents/pdf/blocks.ts (?:(?:\. *){5,}`,
    String.raw`src/documents/pdf/blocks.ts (\p{L}`,
  ],
  'names of files have at most 255 characters': [
    String.raw`src/project/ecosystems/python-files.ts ^(?:[\w.-]+[-_])?requirements`,
  ],
  'names of sources, types and problems are short': [
    String.raw`src/core/retrieval/named-sources.ts (?:[\s._-]*`,
    'src/core/check/evaluate-type.ts ^(?:Date|',
    String.raw`src/project/clients/settings-syntax.ts  \(`,
    String.raw`src/core/changes/announced-changes.ts ^(?:new\s+)?`,
  ],
  'every part has a small limit': [
    String.raw`src/core/secrets.ts \b[\w-]{0,40}`,
    String.raw`src/documents/rst.ts :[\w:-]{1,60}`,
    String.raw`src/core/search/query.ts "([^"\n]{3,200})"`,
    String.raw`src/core/extract/remove/hidden/selectors.ts (?<!\\):[\w-]+`,
  ],
}

interface FoundPattern {
  readonly pattern: RegExp
  /** Its file and source. */
  readonly label: string
}

test('no pattern needs time that grows with the square of a hostile text', () => {
  const patterns = ['src', 'web'].flatMap(listPatterns)
  expect(patterns.length).toBeGreaterThan(2000)
  const isShort = (label: string) =>
    Object.values(SHORT_INPUT).some((labels) => labels.some((one) => label.startsWith(one)))
  const slow = patterns.filter(({ pattern, label }) => !isShort(label) && findSlowAttack(pattern) !== undefined)
  expect(slow.map(({ label }) => label)).toEqual([])
})

test.each([
  ['strings with escapes in a body that never ends', /"(?:[^"\\]|\\.)*"|[[{\]}]/g],
  ['a run at the end', /\s+$/],
  ['a comment that is not closed', /<!--.*?-->/gs],
  ['two quantifiers side by side', /^a\s*\s*b/],
  ['nested quantifiers', /^(?:a+b?)+$/],
  ['a name before its sign', /[a-z]+=/g],
])('an attack shows that a pattern is slow: %s', (_, pattern) => {
  expect(findSlowAttack(pattern)).toBeDefined()
})

test.each([
  ['a run that begins once', /(?<!\s)\s+$/],
  ['a limited number of repetitions', /<a[^>]{0,100}>/g],
  ['parts that exclude each other', /^(?:a+b)+$/],
  ['a list of words', /(?:one|two|three)\s/g],
])('no attack makes a pattern slow: %s', (_, pattern) => {
  expect(findSlowAttack(pattern)).toBeUndefined()
})

/** Lists the patterns in the source files below a folder, each once. */
function listPatterns(folder: string): FoundPattern[] {
  const found = new Map<string, FoundPattern>()
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/(?<!\.test|\.d)\.tsx?$/.test(name)) continue
    const path = `${folder}/${name}`
    const { program } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'))
    const visitor = new Visitor({
      Literal(node) {
        if (!('regex' in node)) return
        const { pattern: source, flags } = node.regex
        const pattern = new RegExp(source, flags)
        if (!found.has(String(pattern))) found.set(String(pattern), { pattern, label: `${path} ${source}` })
      },
    })
    visitor.visit(program)
  }
  return [...found.values()]
}

/** Lengths of the texts that find patterns whose time doubles with each repetition, with the milliseconds that are suspicious. */
const STEPS: readonly (readonly [length: number, ms: number])[] = [
  [20, 1],
  [30, 1],
  [60, 2],
  [100, 2],
  [160, 2],
  [400, 2],
  [2000, 0.1],
]
/**
 * Four times the text takes a pattern four times as long if its time is proportional, and sixteen times otherwise. Short times say little
 * about growth; a pattern with quadratic time takes hundreds of milliseconds for the longer text.
 */
const [SHORT, LONG] = [8000, 32_000]
const [MAX_GROWTH, MIN_SLOW_MS] = [9, 40]

/** The first attack that takes a pattern too much CPU time, which does not depend on what else the machine does. */
function findSlowAttack(pattern: RegExp): Attack | undefined {
  return listAttacks(pattern).find((attack) => {
    const suspicious = STEPS.find(([length, ms]) => measure(pattern, attack, length) > ms)
    if (suspicious === undefined) return false
    const [length, ms] = suspicious
    const repeatedly = (length: number) => Math.min(...[1, 2, 3].map(() => measure(pattern, attack, length)))
    if (length < 2000) return repeatedly(length) > ms
    const long = repeatedly(LONG)
    return long > MIN_SLOW_MS && long > MAX_GROWTH * repeatedly(SHORT)
  })
}

/** The CPU time of a pattern, in milliseconds. */
function measure(pattern: RegExp, { prefix, repeat, suffix }: Attack, length: number): number {
  const text = prefix + repeat.repeat(Math.ceil(length / repeat.length)) + suffix
  pattern.lastIndex = 0
  const before = process.threadCpuUsage()
  if (pattern.global) text.replace(pattern, '')
  else pattern.test(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
