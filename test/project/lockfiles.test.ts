import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { readProject } from '../../src/project/read-project.ts'

/*
 * Each folder with an expected.json is a project. Outside of `by-hand`, a tool wrote the lock files. When they were made, the names and
 * versions were compared with what the tool itself lists: `npm ls`, `pnpm list`, `yarn list`, `yarn info`, `bun pm ls`, `cargo metadata`,
 * `go list -m`, `poetry show`. Those lists differ where they name aliases, members and folders, or leave out other platforms. Pipenv
 * has no such list without an installation, so its results were only compared with the files by reading, like those of `by-hand`,
 * `package-json` and `pyproject`. The index of Python packages was a local one, whose address was replaced.
 */
const root = fileURLToPath(new URL('lockfiles', import.meta.url))

const projects = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('expected.json'))
  .map((path) => dirname(path))
  .toSorted(compareUtf8)

describe('readProject', () => {
  test.each(projects)('reads the packages of %s', async (path) => {
    const folder = join(root, path)
    const { packages: found, skipped } = await readProject(folder)
    const packages = found.map(({ hashes: _, ...one }) => one)
    const expected = join(folder, 'expected.json')
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(expected, writeExpected({ packages, skipped }))
    expect({ packages, skipped }).toEqual(JSON.parse(readFileSync(expected, 'utf8')))
  })

  test('has at least six projects of each format', () => {
    const counts = new Map<string, number>()
    for (const path of projects) {
      const format = path.replace(/^by-hand\//, '').replace(/(?:-[\d.]+)?\/.*$/, '')
      counts.set(format, (counts.get(format) ?? 0) + 1)
    }
    expect([...counts].filter(([, count]) => count < 6)).toEqual([])
    expect(counts.size).toBeGreaterThan(14)
  })

  test.each([
    'npm-lock-1/basic',
    'npm-lock-3/scoped',
    'pnpm-5.3/basic',
    'pnpm-9.0/workspaces',
    'yarn-1/scoped',
    'bun/versions',
    'cargo/single',
    'by-hand/cargo/version-1',
    'poetry/groups',
    'pipfile/both',
    'by-hand/uv/simple',
    'by-hand/requirements/compiled',
  ])('finds all digests that the lock file of %s has', async (path) => {
    const folder = join(root, path)
    const { packages, files } = await readProject(folder)
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
    const written = [
      ...[...text.matchAll(/(?:--hash=|hash = "|^ *")(sha256):([0-9a-f]{64})/gm)].map(
        ([, name, hex]) => `${name}-${hex}`,
      ),
      ...[...text.matchAll(/^(?:checksum|"checksum .*") = "([0-9a-f]{64})"/gm)].map(([, hex]) => `sha256-${hex}`),
      ...[...text.matchAll(/\b(sha512|sha1)-([\w+/]+=*)/g)].map(([, name, base64 = '']) => {
        return `${name}-${Buffer.from(base64, 'base64').toString('hex')}`
      }),
    ]
    const found = new Set(packages.flatMap(({ hashes = [] }) => hashes))
    expect(found.size).toBeGreaterThan(0)
    expect([...found].toSorted(compareUtf8)).toEqual([...new Set(written)].toSorted(compareUtf8))
  })

  test.each(['yarn-4/basic', 'go/direct', 'package-json/basic'])('finds no digests in %s', async (path) => {
    const { packages } = await readProject(join(root, path))
    expect(packages.length).toBeGreaterThan(0)
    expect(packages.filter(({ hashes }) => hashes !== undefined)).toEqual([])
  })

  test.each(projects.filter((path) => existsSync(join(root, path, 'go.sum'))))(
    'finds only versions of Go modules that go.sum of %s has',
    async (path) => {
      const sums = readFileSync(join(root, path, 'go.sum'), 'utf8')
      const { packages } = await readProject(join(root, path))
      expect(packages.filter(({ name, version }) => !sums.includes(`${name} ${version}/go.mod `))).toEqual([])
    },
  )

  test('no project names this machine or a private registry', () => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const found = files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => {
        const hosts = [...readFileSync(path, 'utf8').matchAll(/https?:\/\/([\w.:-]+)/g)].map(([, host = '']) => host)
        return hosts.some((host) => /^(?:localhost|\d+\.\d+\.\d+\.\d+|[^.]+)(?::|$)/.test(host))
      })
    expect(found.map((path) => relative(root, path))).toEqual([])
  })
})

/** One line for each package, so that differences are easy to read. */
function writeExpected({
  packages,
  skipped,
}: {
  readonly packages: readonly object[]
  readonly skipped: readonly object[]
}): string {
  const list = (items: readonly object[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  return `{\n  "packages": ${list(packages)},\n  "skipped": ${list(skipped)}\n}\n`
}
