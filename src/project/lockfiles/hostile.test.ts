import { describe, expect, test } from 'vitest'
import { PharosError } from '../../core/errors.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { parseBunLock } from './bun-lock.ts'
import { parseCargoLock } from './cargo-lock.ts'
import { parseGoModules } from './go-mod.ts'
import { parseGradleLock } from './gradle-lock.ts'
import { parseNpmLock } from './npm-lock.ts'
import { parseNpmManifests } from './npm-manifest.ts'
import { parsePnpmLock } from './pnpm-lock.ts'
import { parsePoms } from './pom-xml.ts'
import { parsePyprojectAlone } from './pyproject.ts'
import { parsePipfileLock, parsePoetryLock, parsePylock } from './python-lock.ts'
import { parseRequirements } from './requirements-txt.ts'
import { parseUvLock } from './uv-lock.ts'
import { parseYarnLock } from './yarn-lock.ts'

const PARSERS: Readonly<Record<string, (file: ProjectFile) => Lockfile>> = {
  'package-lock.json': (file) => parseNpmLock(file, []),
  'package.json': (file) => parseNpmManifests([file]),
  'pnpm-lock.yaml': parsePnpmLock,
  'yarn.lock': (file) => parseYarnLock(file, []),
  'bun.lock': parseBunLock,
  'requirements.txt': (file) => parseRequirements([file], []),
  'pyproject.toml': parsePyprojectAlone,
  'poetry.lock': (file) => parsePoetryLock(file, []),
  'uv.lock': parseUvLock,
  'Pipfile.lock': (file) => parsePipfileLock(file, []),
  'pylock.toml': (file) => parsePylock(file, []),
  'Cargo.lock': (file) => parseCargoLock(file, []),
  'go.mod': (file) => parseGoModules([file]),
  'pom.xml': (file) => parsePoms([file]),
  'gradle.lockfile': (file) => parseGradleLock([file], [file]),
}

/** Texts that take a careless parser minutes, all its stack or all its memory. */
const HOSTILE: Readonly<Record<string, string>> = {
  empty: '',
  'a byte order mark': '\uFEFF',
  'zero bytes': '\0'.repeat(100_000),
  'nested brackets': '['.repeat(100_000),
  'nested maps': '{"a":'.repeat(100_000),
  'nested maps of YAML': '{a: '.repeat(100_000),
  'nested maps that end': `${'{"dependencies":{"a":'.repeat(50_000)}{}${'}}'.repeat(50_000)}`,
  'nested lists of YAML': '- '.repeat(100_000),
  'nested keys of YAML': '? '.repeat(100_000),
  'nested lines': Array.from({ length: 3000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  'nested elements': '<a>'.repeat(100_000),
  'aliases of YAML': `a: &a [x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *a]`).join('\n')}`,
  'entities of XML': `<!DOCTYPE a [${Array.from({ length: 30 }, (_, i) => `<!ENTITY e${i + 1} "&e${i};&e${i};">`).join('')}]><project>&e30;</project>`,
  'open quotes': '"\\"'.repeat(100_000),
  'open comments': '/* '.repeat(100_000),
  'many commas': ', '.repeat(100_000),
  'many colons': ':'.repeat(100_000),
  'many spaces': ' '.repeat(100_000),
  'many blank lines': '\n'.repeat(100_000),
  'a long line': 'a'.repeat(500_000),
  'a long word in quotes': `"${'a'.repeat(500_000)}"`,
  'many open lines': 'a:\n'.repeat(50_000),
  'continued lines': 'a \\\n'.repeat(100_000),
  'many includes': '-r requirements.txt\n'.repeat(20_000),
  'many tables': '[[a]]\n'.repeat(20_000),
  'tables within tables': `[${'a.'.repeat(100_000)}a]`,
}

describe.each(Object.entries(PARSERS))('%s', (path, parse) => {
  test.each(Object.entries(HOSTILE))('ends with a result or a clear error for %s', (_, text) => {
    try {
      expect(parse({ path, text }).packages).toBeInstanceOf(Array)
    } catch (error) {
      expect(error).toBeInstanceOf(PharosError)
      expect(error).toMatchObject({ code: 'LOCKFILE_INVALID', details: { file: path } })
      expect((error as PharosError).message.length).toBeLessThan(500)
    }
  })
})

describe('names that are no package names', () => {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    '../../etc',
    'a\u001b[31mred',
    'a b',
    '',
    'a'.repeat(300),
    '%2e%2e/x',
  ]

  test.each(names)('are skipped or plain data: %j', (name) => {
    const lock = JSON.stringify({
      lockfileVersion: 3,
      packages: { ['']: {}, [`node_modules/${name}`]: { version: '1.0.0' } },
    })
    const { packages, skipped } = parseNpmLock({ path: 'package-lock.json', text: lock }, [])
    expect(packages.length + skipped.length).toBe(1)
    if (!/^(?:constructor|toString)$/.test(name)) expect(packages).toEqual([])
    expect(JSON.stringify([packages, skipped])).not.toContain('\\u001b')
    expect(Object.prototype).not.toHaveProperty('version')
  })

  test('are skipped in every format', () => {
    const texts: Readonly<Record<string, string>> = {
      'package.json': '{"dependencies":{"__proto__":"1","a/b/c":"2"}}',
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\nimporters:\n  __proto__:\n    dependencies:\n      __proto__: {specifier: '1', version: 1.0.0}\nsnapshots:\n  __proto__@1.0.0: {}\n",
      'yarn.lock': '__proto__@^1.0.0:\n  version "1.0.0"\n  dependencies:\n    __proto__ "^1.0.0"\n',
      'bun.lock':
        '{"workspaces":{"":{"dependencies":{"__proto__":"1"}}},"packages":{"__proto__":["__proto__@1.0.0","",{}]}}',
      'pyproject.toml': '[tool.poetry.dependencies]\n__proto__ = "1"\n',
      'poetry.lock': '[[package]]\nname = "__proto__"\nversion = "1.0"\n',
      'uv.lock': '[[package]]\nname = "__proto__"\nversion = "1.0"\nsource = { registry = "x" }\n',
      'Pipfile.lock': '{"_meta":{},"default":{"__proto__":{"version":"==1.0"}}}',
      'pylock.toml': '[[packages]]\nname = "__proto__"\nversion = "1.0"\n',
      'Cargo.lock':
        '[[package]]\nname = "__proto__"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n',
      'go.mod': 'require __proto__ v1.0.0\n',
      'pom.xml':
        '<project><dependencies><dependency><groupId>a</groupId><artifactId>../b</artifactId><version>1</version></dependency></dependencies></project>',
      'gradle.lockfile': 'a:../b:1.0=x\n',
    }
    const found = Object.entries(texts).map(([path, text]) => {
      const { packages, skipped } = PARSERS[path]?.({ path, text }) ?? { packages: [], skipped: [] }
      return [path, packages.length, skipped.length > 0]
    })
    expect(found).toEqual(Object.keys(texts).map((path) => [path, 0, true]))
  })
})

describe('cycles', () => {
  test('of packages end', () => {
    const text =
      '[[package]]\nname = "a"\nversion = "1.0.0"\ndependencies = ["b"]\n[[package]]\nname = "b"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\ndependencies = ["c"]\n[[package]]\nname = "c"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\ndependencies = ["b", "a"]\n'
    expect(parseCargoLock({ path: 'Cargo.lock', text }, []).packages.map(({ name }) => name)).toEqual(['b', 'c'])
  })

  test('of parents end', () => {
    const pom = (name: string, parent: string): string =>
      `<project><groupId>g</groupId><artifactId>${name}</artifactId><parent><groupId>g</groupId><artifactId>${parent}</artifactId></parent><dependencies><dependency><groupId>g</groupId><artifactId>x</artifactId></dependency></dependencies></project>`
    const files = [
      { path: 'pom.xml', text: pom('a', 'b') },
      { path: 'b/pom.xml', text: pom('b', 'a') },
    ]
    expect(parsePoms(files).packages).toEqual([])
  })
})

describe('errors name the file, the line and the problem', () => {
  test.each([
    ['package-lock.json', '{\n  "lockfileVersion": 3,\n  oops\n}', 'line 3: it is not valid JSON (unexpected o)'],
    ['package-lock.json', '{\n  "lockfileVersion": 3,\n', 'line 3: it is not valid JSON (it ends too early)'],
    ['package-lock.json', '', 'it is empty'],
    ['package-lock.json', '{}', 'it has no lockfileVersion, packages or dependencies'],
    ['bun.lock', '{\n  // fine\n  "workspaces": {"a" 1}\n}', 'line 3: it is not valid JSON'],
    ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n\npackages:\n  'a@1.0.0: {}\n  b: 1\n", 'line 4: a quote is missing'],
    ['pnpm-lock.yaml', 'lockfileVersion: 4\n', 'it has no lockfileVersion of 5 or more'],
    ['yarn.lock', 'a@^1:\n  resolved "x"\n', 'there is no version of a@^1'],
    ['poetry.lock', '[[package]]\nname = "a"\nversion = \n', 'line 3: it is not valid TOML'],
    ['requirements.txt', 'a==1\n\nnot a requirement\n', 'line 3: this is not a requirement of pip'],
    ['go.mod', 'module x\n\nrequire a\n', 'line 3: a version is missing'],
    ['pom.xml', '<project>\n  <dependencies>\n</project>\n', 'line 3: the element dependencies has no end'],
    ['gradle.lockfile', '# c\n\na:b=c\n', 'line 3: this is not group:artifact:version=configurations'],
  ])('%s: %j', (path, text, problem) => {
    expect(() => PARSERS[path]?.({ path, text })).toThrow(`${path} cannot be read: ${problem}`)
  })
})
