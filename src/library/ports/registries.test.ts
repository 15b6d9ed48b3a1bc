import { expect, test } from 'vitest'
import { PharosError } from '../../core/errors.ts'
import { PUBLIC_REGISTRIES, parsePackageUrl } from '../../core/url/package-url.ts'
import { listRegistries, normalizeRegistry, type PackageRegistries, registryUrlOf } from './registries.ts'

test.each([
  ['https://registry.npmjs.org/', 'https://registry.npmjs.org'],
  ['HTTPS://Registry.NPMJS.org:443', 'https://registry.npmjs.org'],
  ['http://npm.example:80//', 'http://npm.example'],
  ['https://npm.example:4873/NPM/', 'https://npm.example:4873/NPM'],
  ['https://me:s3cret@npm.example/npm/?token=s3cret#s3cret', 'https://npm.example/npm'],
  ['https://npm.example/a/../b/', 'https://npm.example/b'],
  ['sparse+https://index.crates.io/', 'https://index.crates.io'],
  ['simple+https://me:s3cret@pypi.example/simple/', 'simple+https://pypi.example/simple'],
  ['https://лампа.example/', 'https://xn--80aa5afp.example'],
])('normalizeRegistry writes %s as %s', (address, written) => {
  expect(normalizeRegistry(address)).toBe(written)
  expect(normalizeRegistry(written)).toBe(written)
  expect(() => new URL(registryUrlOf(written))).not.toThrow()
})

test.each([
  ['http://npm.example', 'https://npm.example'],
  ['https://npm.example', 'https://npm.example:4873'],
  ['https://npm.example/npm', 'https://npm.example/NPM'],
  ['https://pypi.example', 'simple+https://pypi.example'],
])('normalizeRegistry keeps %s and %s apart', (one, other) => {
  expect(normalizeRegistry(one)).not.toBe(normalizeRegistry(other))
})

test('listRegistries has the registry of a scope alone, and none if the settings are broken', () => {
  const list = (address: string, registries: Partial<PackageRegistries>) => {
    const name = parsePackageUrl(address)
    return name === undefined ? undefined : listRegistries(name, { ...PUBLIC_REGISTRIES, ...registries })
  }
  const npmScopes = new Map([['@corp', 'https://npm.corp.example/']])
  expect(list('npm:@corp/lamp', { npmScopes })).toEqual(['https://npm.corp.example'])
  expect(list('npm:lamp', { npmScopes })).toEqual(['https://registry.npmjs.org'])
  const further = { pypi: ['simple+https://pypi.corp.example/'] }
  expect(list('pypi:lamp', { further })).toEqual(['https://pypi.org', 'simple+https://pypi.corp.example'])
  const broken = { crates: new PharosError('CONFIG_INVALID', { origin: 'config.toml', problem: 'it is broken' }) }
  expect(list('crates:lamp', { broken })).toEqual([])
  expect(list('golang:tower.example/lamp', {})).toEqual([])
})
