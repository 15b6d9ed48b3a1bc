import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LocalSite, writePage } from './local-site.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox
let site: LocalSite

// Creates a library with two versions of a guide, which every test only reads.
beforeAll(async () => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  site = await LocalSite.open({
    '/docs/': writePage('Guide', ['/docs/kiln', '/docs/glaze', '/docs/clay']),
    '/docs/kiln': writePage('Kiln', [], 'Fire the kiln slowly, and let it cool overnight.'),
    '/docs/glaze': writePage('Glaze', [], 'Celadon glaze turns green in a kiln without air.'),
    '/docs/clay': writePage('Clay', [], 'Porcelain is white clay.'),
  })
  for (const version of ['1.0', '2.0']) {
    expect(await pharos('add', `${site.origin}/docs/`, '--name', 'guide', '--version', version)).toMatchObject({
      code: 0,
    })
  }
  sandbox.write({
    'queries.tsv':
      '# three that are found, one that is not\nkiln\tdocs/kiln\nceladon glaze\tglaze\nporcelain\tclay\nkiln cool\tmissing\n',
  })
})

afterAll(async () => {
  await site.close()
  sandbox.remove()
})

function pharos(...args: string[]) {
  return sandbox.runInProcess(args, { PHAROS_LIBRARY: sandbox.path('library.db'), PHAROS_ALLOW_PRIVATE: '127.0.0.1' })
}

interface Answer {
  readonly figures: Readonly<Record<string, number>>
  readonly queries: readonly { readonly query: string; readonly place: number | null; readonly found: string[] }[]
  readonly baselines: readonly Record<string, unknown>[]
  /** Metrics below their required minimum. */
  readonly missed: readonly unknown[]
}

describe('eval', () => {
  test('prints figures and the queries for which no expected page was found', async () => {
    const { code, stdout, stderr } = await pharos('eval', sandbox.path('queries.tsv'), '--source', 'guide@2.0')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^4 questions, by words, first 10 pages\n\n {2}success@1 +0\.750\n/)
    expect(stdout).toMatch(
      /\n {2}MRR@10 +0\.750\n {2}nDCG@10 +0\.750\n {2}recall@10 +0\.750\n {2}precision@10 +0\.075\n/,
    )
    expect(stdout).toMatch(/\n {2}time p50 +[\d.,]+ ms\n {2}time p95 +[\d.,]+ ms\n/)
    expect(stdout).toContain(
      'no expected page among the first 10: 1 question\n  kiln cool\n    expected: missing; first: docs/kiln\n',
    )
  })

  test('--json prints every query with its rank', async () => {
    const { code, stdout, stderr } = await pharos(
      'eval',
      sandbox.path('queries.tsv'),
      '--source',
      'guide',
      '--k',
      '5',
      '--json',
    )
    expect(code).toBe(0)
    expect(stderr).toContain('searched guide@2.0; versions: 2.0, 1.0')
    const { figures, queries, baselines, missed } = JSON.parse(stdout) as Answer
    expect(figures).toMatchObject({ 'success@1': 0.75, 'success@5': 0.75, mrr: 0.75, recall: 0.75 })
    expect(figures['precision']).toBeCloseTo(0.15, 12)
    expect(queries.map(({ query, place }) => [query, place])).toEqual([
      ['kiln', 1],
      ['celadon glaze', 1],
      ['porcelain', 1],
      ['kiln cool', null],
    ])
    expect(queries[0]?.found[0]).toBe(`${site.origin}/docs/kiln`)
    expect({ baselines, missed }).toEqual({ baselines: [], missed: [] })
  })

  test('compares with a saved run and with word search alone', async () => {
    const before = sandbox.path('before.json')
    sandbox.write({ 'others.tsv': 'kiln\tclay\nceladon glaze\tglaze\nporcelain\tclay\nair\tglaze\n' })
    const first = await pharos('eval', sandbox.path('others.tsv'), '--source', 'guide@2.0', '--save', before)
    expect(first.code).toBe(0)
    const queries = sandbox.path('queries.tsv')
    const args = ['eval', queries, '--source', 'guide@2.0', '--baseline', before, '--against', 'words']
    const { code, stdout, stderr } = await pharos(...args)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'no vectors were used, so every way to search matches words only\n',
    })
    expect(stdout).toMatch(/\n +now +words +before\.json\n/)
    expect(stdout).toContain('against words: 0 better, 0 worse, 4 the same\n')
    expect(stdout).toContain(
      'against before.json: 1 better, 0 worse, 2 the same (sign test p = 1.000: may be chance)\n  left out: 2 questions missing in one of the runs\n  better    – → 1    kiln\n',
    )
    const { baselines } = JSON.parse((await pharos(...args, '--json')).stdout) as Answer
    expect(baselines).toMatchObject([
      { name: 'words', comparison: { wins: 0, losses: 0, ties: 4 } },
      {
        name: 'before.json',
        comparison: { wins: 1, losses: 0, ties: 2, chance: 1 },
        better: [{ query: 'kiln', before: null, after: 1 }],
        worse: [],
        unpaired: 2,
      },
    ])
    expect(sandbox.leftovers()).toEqual([])
  })

  test('fails when a figure is below its minimum', async () => {
    const args = ['eval', sandbox.path('queries.tsv'), '--source', 'guide@2.0', '--min', 'success@5=0.7', '--min']
    expect(await pharos(...args, 'mrr=0.75')).toMatchObject({ code: 0 })
    const failed = await pharos(...args, 'mrr=0.8')
    expect(failed.code).toBe(1)
    expect(failed.stdout).toMatch(/\nFAIL {2}MRR@10 is 0\.75, expected at least 0\.8\n$/)
    const { missed } = JSON.parse((await pharos(...args, 'mrr=0.8', '--json')).stdout) as Answer
    expect(missed).toEqual([{ metric: 'mrr', least: 0.8, value: 0.75 }])
  })

  test('reads standard input', async () => {
    const line = `printf 'kiln\\tkiln\\n' | PHAROS_LIBRARY='${sandbox.path('library.db')}' pharos eval - --source guide@1.0 --verbose`
    const { code, stdout } = await sandbox.shell(line)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^1 question, .*\n {4}1 {2}1\.000 +[\d.,]+ ms {2}kiln\n$/s)
  })

  test('refuses an unknown source and an unknown version', async () => {
    expect(await pharos('eval', sandbox.path('queries.tsv'), '--source', 'giude')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/no source giude in .*, did you mean guide\?/),
    })
    expect(await pharos('eval', sandbox.path('queries.tsv'), '--version', '9')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('no version 9 of any source; there are guide@1.0, guide@2.0'),
    })
  })
})
