import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { installData } from '../../src/gazetteer/install-data.ts'
import { Workshop } from '../e2e/program.ts'
import { DATA_FOLDER } from './world.ts'

const workshop = new Workshop()
const library = ['--library', workshop.path('library.db')]
const gazetteer = (...args: readonly string[]) => workshop.run(['gazetteer', ...args, ...library])

/** The same within this process, which is quicker. */
async function runHere(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' }
  const outputOf = (name: keyof typeof said) => ({
    write: (text: string) => {
      said[name] += text
    },
  })
  const streams = { stdout: outputOf('stdout'), stderr: outputOf('stderr') }
  return { code: await run(['gazetteer', ...args, ...library], streams), ...said }
}

beforeAll(() => installData('countries', { folder: DATA_FOLDER }), 120_000)
afterAll(() => workshop.remove())

test('a library without places says how to get them', async () => {
  const { code, stdout } = await runHere('status')
  expect(code).toBe(0)
  expect(stdout).toContain('there are no places yet; import them: pharos gazetteer import --library')
  const { stdout: json } = await runHere('status', '--json')
  expect(JSON.parse(json)).toEqual({
    gazetteer: { countries: 0, regions: 0, cities: 0, others: 0, names: 0, revision: '' },
    sources: [],
  })
})

test('countries are imported from files that are there, credited, looked over and exported', async () => {
  const first = await gazetteer('import', '--countries-only', '--from', DATA_FOLDER)
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toMatch(/^281 places with [\d,]+ names in \d+s, 281 new, 0 changed\n/)
  expect(first.stdout).toContain('world-countries by Mohammed Le Doze and contributors, ODbL 1.0')
  const again = await runHere('import', '--countries-only', '--from', DATA_FOLDER, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({
    places: 281,
    added: 0,
    changed: 0,
    refused: 0,
    gazetteer: { countries: 250 },
    sources: [{ license: 'ODbL-1.0' }],
  })
  expect(again.stderr).toBe('')

  const status = await runHere('status')
  expect(status.stdout).toMatch(
    /^250 countries, 0 regions, 0 cities, 31 other places, [\d,]+ names\nrevision: [\da-f]{16}\n/,
  )
  expect(status.stdout).toContain('ODbL-1.0')
  expect(await runHere('validate')).toMatchObject({ code: 0, stdout: 'nothing is against the rules\n' })
  expect((await runHere('qa')).stdout).toContain('no-city: 250 × countries without any city')

  const out = workshop.path('places.ndjson')
  const exported = await gazetteer('export', '--out', out, '--json')
  expect(JSON.parse(exported.stdout)).toMatchObject({ file: out, places: 281 })
  const text = readFileSync(out, 'utf8')
  expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
    pharos: 'gazetteer',
    sources: [
      { name: 'world-countries', license: 'ODbL-1.0', attribution: expect.stringContaining('Mohammed Le Doze') },
    ],
  })
  expect((await runHere('export')).stdout).toBe(text)
  // Whoever has enough of it does not make it wait.
  const line = `pharos gazetteer export ${library.join(' ')} | head -1`
  expect(await workshop.shell(line)).toMatchObject({ code: 0, stdout: text.slice(0, text.indexOf('\n') + 1) })
})

test('a file of one’s own is added; what is wrong with its lines is told', async () => {
  workshop.write({ 'towns.csv': 'name,country,population\nLighthouse Town,EG,1200\nNowhere,EGY,\n' })
  const { code, stdout, stderr } = await gazetteer('import', '--file', workshop.path('towns.csv'))
  expect(code).toBe(0)
  expect(stdout).toMatch(/^1 place with 1 name in \d+s, 1 new, 0 changed, 1 left out\n/)
  expect(stderr).toContain('left out: line 3: country: expected two letters such as FR, got "EGY"')
})

test.each([
  [['travel'], 2, 'there is no "travel"; there are import, export, validate, qa, status'],
  [['export', '--from', 'x'], 2, 'gazetteer export takes no --from: that is for gazetteer import'],
  [['import', '--out', 'x'], 2, 'gazetteer import takes no --out: that is for gazetteer export'],
  [['import', '--file', 'x', '--countries-only'], 2, '--file is a file of your own'],
  [['import', '--file', 'missing.csv'], 3, 'there is no file at missing.csv'],
  [['import', '--from', 'missing'], 3, 'there is no countries.json of world-countries@5.1.0'],
  [['export', '--out', join('missing', 'x')], 1, 'its folder is not there'],
])('%j is refused', async (args, expected, problem) => {
  const { code, stderr } = await runHere(...args)
  expect(stderr).toContain(problem)
  expect(code).toBe(expected)
  expect(existsSync('missing')).toBe(false)
})
