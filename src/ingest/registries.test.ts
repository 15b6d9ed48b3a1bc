import { describe, expect, test } from 'vitest'
import { PUBLIC_REGISTRIES, parsePackageUrl } from '../core/url/package-url.ts'
import { type Download, DownloadError } from '../library/ports/download.ts'
import { listRegistries, type PackageRegistries } from '../library/ports/registries.ts'
import { findPackage } from './registries.ts'

const SHA1 = 'a'.repeat(40)
const SHA256 = 'b'.repeat(64)

/** Finds a package in registries with the given files, and lists what was requested. */
async function find(address: string, registries: Partial<PackageRegistries>, files: Readonly<Record<string, string>>) {
  const requested: string[] = []
  const download: Download = async ({ url }) => {
    requested.push(url)
    const text = files[url]
    if (text === undefined) throw new DownloadError('missing', 'it is not there')
    return (async function* () {
      yield Buffer.from(text)
    })()
  }
  const name = parsePackageUrl(address)
  if (name === undefined) throw new Error(`${address} is no package`)
  const listed = listRegistries(name, { ...PUBLIC_REGISTRIES, ...registries })
  const found = await findPackage(name, listed, { download, signal: undefined, hashes: [] }).catch(
    (error: unknown) => error as Error,
  )
  return { found, requested }
}

describe('several registries', () => {
  const [one, two, three] = ['https://one.example', 'https://two.example', 'https://three.example'] as const
  const npm = { npm: one, further: { npm: [two, three] } }
  const packument = (version: string) =>
    JSON.stringify({ versions: { [version]: { dist: { tarball: `lamp-${version}.tgz`, shasum: SHA1 } } } })

  test('the search goes on if a registry has no such package, or no such version', async () => {
    const files = { [`${two}/lamp`]: packument('1.0.0'), [`${three}/lamp`]: packument('2.0.0') }
    const { found } = await find('pkg:npm/lamp@2.0.0', npm, files)
    expect(found).toMatchObject({ version: '2.0.0', url: `${three}/lamp-2.0.0.tgz` })
    const { found: absent } = await find('pkg:npm/lamp@3.0.0', npm, files)
    expect(absent).toMatchObject({ message: 'its registry has no version 3.0.0' })
  })

  test.each(['<html>log in</html>', '{', packument('2.0.0').replace(SHA1, '')])(
    'the answer %j ends the search',
    async (answer) => {
      const files = { [`${one}/lamp`]: answer, [`${two}/lamp`]: packument('2.0.0') }
      const { found, requested } = await find('pkg:npm/lamp@2.0.0', npm, files)
      expect(found).toBeInstanceOf(Error)
      expect(requested).toEqual([`${one}/lamp`])
    },
  )

  test('the sources of a Maven artifact come from the first repository that has the artifact', async () => {
    const path = '/org/tower/lamp/1.0/lamp-1.0'
    const maven = { maven: one, further: { maven: [two] } }
    const files = { [`${two}${path}-sources.jar.sha1`]: SHA1 }
    const { found } = await find('pkg:maven/org.tower/lamp@1.0', maven, files)
    expect(found).toMatchObject({ kind: 'sources', url: `${two}${path}-sources.jar` })
    const { found: refused, requested } = await find('pkg:maven/org.tower/lamp@1.0', maven, {
      ...files,
      [`${one}${path}.pom`]: '<project/>',
    })
    expect(refused).toMatchObject({ message: expect.stringContaining('has neither sources nor Javadoc') })
    expect(requested.every((url) => url.startsWith(one))).toBe(true)
  })
})

describe('an index of PyPI that lists files', () => {
  const index = 'https://index.example/simple'

  function findListed(address: string, filenames: readonly string[], pattern = '') {
    const links = filenames.map((name) => `<a href="../files/${name}#sha256=${SHA256}">${name}</a>`)
    return find(
      address,
      { pypi: `simple+${index}` },
      { [`${index}/lamp/`]: `<html>${pattern}${links.join('\n')}</html>` },
    )
  }

  test.each([
    [['lamp-1.0.tar.gz', 'lamp-1.0.post1.tar.gz'], '1.0.post1'],
    [['lamp-9.0.tar.gz', 'lamp-1!1.0.tar.gz'], '1!1.0'],
    [['lamp-1.0.tar.gz', 'lamp-1.1rc1.tar.gz', 'lamp-2.0.dev1.tar.gz'], '1.0'],
    [['lamp-1.0a1.tar.gz', 'lamp-1.0.dev2.tar.gz', 'lamp-1.0b1.dev1.tar.gz'], '1.0b1.dev1'],
    [['lamp-1.9.tar.gz', 'lamp-1.10.0.tar.gz', 'lamp-1.10-1.tar.gz', 'lamp-lit-3.0.tar.gz'], '1.10-1'],
  ])('the newest of %j is %s', async (filenames, version) => {
    const { found } = await findListed('pkg:pypi/lamp', filenames)
    expect(found).toMatchObject({ version })
  })

  test('the wanted version may be spelled otherwise, but has the same local part', async () => {
    const files = ['lamp-2.0.0+cu118-py3-none-any.whl', 'lamp-2.0-py3-none-any.whl', 'lamp-2.0.0+CPU-py3-none-any.whl']
    for (const [wanted, version] of [
      ['2.0.0+cpu', '2.0.0+CPU'],
      ['2.0.0', '2.0'],
    ] as const) {
      const { found } = await findListed(`pkg:pypi/lamp@${encodeURIComponent(wanted)}`, files)
      expect(found).toMatchObject({ version })
    }
    const { found } = await findListed(`pkg:pypi/lamp@${encodeURIComponent('2.0.0+rocm')}`, files)
    expect(found).toMatchObject({ message: expect.stringContaining('no version 2.0.0+rocm') })
  })

  // Each of these took half a minute and more with patterns that can match in many ways.
  test.each([
    ['unclosed tags', '<a '.repeat(1_000_000), []],
    ['a long file name', '', [`a${'-1'.repeat(200)}.whl`]],
    ['many file names', '', Array.from({ length: 5000 }, () => `a${'-1'.repeat(120)}x`)],
  ])('%s do not block the process', async (_case, pattern, filenames) => {
    const { found } = await findListed('pkg:pypi/lamp@1.0', [...filenames, 'lamp-1.0.tar.gz'], pattern)
    expect(found).toMatchObject({ version: '1.0' })
  })

  test('a file name of any length in JSON does not block the process', async () => {
    const long = { filename: `lamp${'-1'.repeat(40_000)}`, url: 'x', hashes: { sha256: SHA256 } }
    const listed = { filename: 'lamp-1.0.tar.gz', url: 'lamp-1.0.tar.gz', hashes: { sha256: SHA256 } }
    const text = JSON.stringify({ files: [long, { ...long, filename: `a${'-1'.repeat(40_000)}` }, listed] })
    const { found } = await find('pkg:pypi/lamp', { pypi: `simple+${index}` }, { [`${index}/lamp/`]: text })
    expect(found).toMatchObject({ version: '1.0', url: `${index}/lamp/lamp-1.0.tar.gz` })
  })
})
