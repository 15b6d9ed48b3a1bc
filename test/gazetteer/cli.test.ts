import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installData } from '../../src/places/gazetteer/install-data.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { DATA_FOLDER } from './world.ts'

const sandbox = new ProgramSandbox()
const library = ['--library', sandbox.path('library.db')]

/** Runs the verb inside this process. */
function runHere(...args: readonly string[]) {
  return sandbox.runInProcess(['gazetteer', ...args, ...library])
}

beforeAll(() => installData('countries', { folder: DATA_FOLDER }))
afterAll(() => sandbox.remove())

test('a library without places says how to import them', async () => {
  const { code, stdout } = await runHere('status')
  expect(code).toBe(0)
  expect(stdout).toContain('there are no places yet; import them: pharos gazetteer import --library')
  const { stdout: json } = await runHere('status', '--json')
  expect(JSON.parse(json)).toEqual({
    gazetteer: { countries: 0, regions: 0, cities: 0, others: 0, names: 0, revision: '' },
    sources: [],
  })
  // An empty gazetteer has no errors, but must not be reported as sound.
  for (const what of ['validate', 'qa']) {
    expect(await runHere(what)).toMatchObject({ code: 0, stdout: expect.stringContaining('there are no places yet') })
  }
})

test('countries are imported from local files, credited, checked and exported', async () => {
  const first = await runHere('import', '--countries-only', '--from', DATA_FOLDER)
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
  expect(await runHere('validate')).toMatchObject({ code: 0, stdout: 'no rule is violated\n' })
  expect((await runHere('qa')).stdout).toContain('no-city: 250 × countries without any city')

  const out = sandbox.path('places.ndjson')
  const exported = await runHere('export', '--out', out, '--json')
  expect(JSON.parse(exported.stdout)).toMatchObject({ file: out, places: 281 })
  const text = readFileSync(out, 'utf8')
  expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
    pharos: 'gazetteer',
    sources: [
      { name: 'world-countries', license: 'ODbL-1.0', attribution: expect.stringContaining('Mohammed Le Doze') },
    ],
  })
  expect((await runHere('export')).stdout).toBe(text)
  // A reader that closes the pipe early ends the export at once.
  const line = `pharos gazetteer export ${library.join(' ')} | head -1`
  expect(await sandbox.shell(line)).toMatchObject({ code: 0, stdout: text.slice(0, text.indexOf('\n') + 1) })
})

test("a user's own file is added, and its invalid lines are reported", async () => {
  sandbox.write({ 'towns.csv': 'name,country,population\nLighthouse Town,EG,1200\nNowhere,EGY,\n' })
  const { code, stdout, stderr } = await runHere('import', '--file', sandbox.path('towns.csv'))
  expect(code).toBe(0)
  expect(stdout).toMatch(/^1 place with 1 name in \d+s, 1 new, 0 changed, 1 left out\n/)
  expect(stderr).toContain('left out: line 3: country: expected two letters such as FR, got "EGY"')
  // The file is credited by its name, and no other source is credited for it.
  expect(stdout.trim().split('\n')).toHaveLength(1)
  expect((await runHere('status')).stdout).toContain('\n  towns.csv (a file of your own)\n')
})

test('status reports the places of an interrupted import, and how to repeat it', async () => {
  // The state after an import was killed before it had written the name index.
  const db = new Sqlite(sandbox.path('library.db'))
  const state = db.prepare('SELECT revision, name_index FROM gazetteer_state').raw().get() as unknown[]
  const setState = db.prepare('UPDATE gazetteer_state SET revision = ?, name_index = ?')
  setState.run('', null)
  const { stdout } = await runHere('status')
  setState.run(...state)
  db.close()
  expect(stdout).toMatch(/^250 countries, 0 regions, 1 city, /)
  expect(stdout).toContain(
    'an import was interrupted, so no places are found yet; import again with: pharos gazetteer import',
  )
})

test('a file without any place is refused with the reason', async () => {
  sandbox.write({ 'codes.csv': 'name,country\nNowhere,EGY\nElsewhere,FRA\n', 'head.csv': 'name,country\n' })
  const { code, stdout, stderr } = await runHere('import', '--file', sandbox.path('codes.csv'))
  expect([code, stdout]).toEqual([3, ''])
  expect(stderr).toContain('left out: line 3: country: expected two letters such as FR, got "FRA"')
  expect(stderr).toContain('none of its 2 lines is a place')
  expect((await runHere('import', '--file', sandbox.path('head.csv'))).stderr).toContain('there is no place in it')
  expect((await runHere('--help')).stdout).toMatch(
    /names its columns in its first line: name, and any of\nref, names, /,
  )
})

test.each([
  [['travel'], 2, 'there is no "travel"; there are import, export, validate, qa, status'],
  [['export', '--from', 'x'], 2, 'gazetteer export takes no --from: that is for gazetteer import'],
  [['import', '--out', 'x'], 2, 'gazetteer import takes no --out: that is for gazetteer export'],
  [['import', '--file', 'x', '--countries-only'], 2, '--file is a file of your own'],
  [['import', '--file', 'missing.csv'], 3, 'there is no file at missing.csv'],
  [['import', '--from', 'missing'], 3, 'there is no countries.json of world-countries@5.1.0'],
  [['export', '--out', join('missing', 'x')], 1, 'its folder does not exist'],
])('the arguments %j are refused', async (args, exitCode, problem) => {
  const { code, stderr } = await runHere(...args)
  expect(stderr).toContain(problem)
  expect(code).toBe(exitCode)
  expect(existsSync(sandbox.path('missing'))).toBe(false)
})
