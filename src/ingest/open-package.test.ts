import { expect, test } from 'vitest'
import { parsePackageUrl } from '../core/url/package-url.ts'
import { pageOf } from './open-package.ts'
import type { PackageArchive } from './registry/package-archive.ts'

const SDIST = 'https://files.pythonhosted.org/packages/aa/bb/cc/lamp-1.0.tar.gz'

test.each<[string, Pick<PackageArchive, 'kind' | 'url'>, string | undefined]>([
  [
    'pkg:cargo/lamp@1.0',
    { kind: 'crate', url: 'https://static.crates.io/x' },
    'https://docs.rs/crate/lamp/1.0/source/src/a%20b.rs',
  ],
  [
    'pkg:cargo/lamp',
    { kind: 'crate', url: 'https://static.crates.io/x' },
    'https://docs.rs/crate/lamp/latest/source/src/a%20b.rs',
  ],
  [
    'pkg:pypi/lamp@1.0',
    { kind: 'sdist', url: SDIST },
    'https://inspector.pypi.io/project/lamp/1.0/packages/aa/bb/cc/lamp-1.0.tar.gz/lamp-1.0/src/a%20b.rs',
  ],
  // Without a pinned version, the next version has another archive.
  ['pkg:pypi/lamp', { kind: 'sdist', url: SDIST }, undefined],
  ['pkg:npm/lamp@1.0', { kind: 'npm', url: 'https://registry.npmjs.org/x.tgz' }, undefined],
  ['pkg:maven/org.tower/lamp@1.0', { kind: 'sources', url: 'https://repo.maven.apache.org/x.jar' }, undefined],
])('finds the public page of a file in %s, if its registry has one', (address, { kind, url }, page) => {
  const name = parsePackageUrl(address)
  if (name === undefined) throw new Error(address)
  const integrity = { algorithm: 'sha256', digest: '' } as const
  const archive: PackageArchive = {
    kind,
    url,
    version: '1.0',
    format: 'tar',
    integrity,
    registry: 'https://registry.example',
    isPublic: true,
  }
  expect(pageOf(name, archive, 'lamp-1.0/')?.('src/a b.rs')).toBe(page)
  expect(pageOf(name, { ...archive, isPublic: false }, 'lamp-1.0/')).toBeUndefined()
})
