import { describe, expect, test } from 'vitest'
import { exactNpmVersion, parseNpmSpecifier } from './npm-specifier.ts'
import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'

describe('parseNpmSpecifier', () => {
  test.each([
    ['^1.0.0', 'a', '^1.0.0'],
    ['>=1.2 <2 || 3.x', 'a', '>=1.2 <2 || 3.x'],
    ['latest', 'a', 'latest'],
    ['', 'a', '*'],
    ['npm:b@^2', 'b', '^2'],
    ['npm:@scope/b@~1.0', '@scope/b', '~1.0'],
    ['npm:@scope/b', '@scope/b', '*'],
    ['npm:^3.0.0', 'a', '^3.0.0'],
    ['catalog:react18', 'a', undefined],
    ['patch:a@npm%3A^1.0.0#~/.yarn/patches/a.patch', 'a', '^1.0.0'],
    ['patch:@scope/a@npm%3A1.0.0#./a.patch', 'a', '1.0.0'],
  ])('reads %j as a package of the registry', (specifier, name, range) => {
    expect(parseNpmSpecifier('a', specifier)).toEqual({ kind: 'registry', name, range })
  })

  test.each([
    ['file:../a', FROM_FOLDER],
    ['link:./a', FROM_FOLDER],
    ['portal:../a', FROM_FOLDER],
    ['./a', FROM_FOLDER],
    ['../a.tgz', FROM_FOLDER],
    ['~/a', FROM_FOLDER],
    ['/a', FROM_FOLDER],
    ['owner/repository', FROM_GIT],
    ['owner/repository#main', FROM_GIT],
    ['github:owner/repository', FROM_GIT],
    ['git+ssh://git@github.com/owner/repository.git#0123abc', FROM_GIT],
    ['git://github.com/owner/repository', FROM_GIT],
    ['git@github.com:owner/repository.git', FROM_GIT],
    ['https://github.com/owner/repository.git', FROM_GIT],
    ['https://example.org/a.tgz', FROM_URL],
    ['jsr:@std/path@1', 'it comes from jsr:, not from the npm registry'],
  ])('tells why %j is not from the registry', (specifier, reason) => {
    expect(parseNpmSpecifier('a', specifier)).toEqual({ kind: 'elsewhere', reason })
  })

  test.each(['workspace:*', 'workspace:^1.0.0', 'workspace:packages/a'])('reads %j as a member', (specifier) => {
    expect(parseNpmSpecifier('a', specifier)).toEqual({ kind: 'workspace' })
  })

  test('only one version is exact', () => {
    expect(['1.2.3', '=1.2.3', '1.2.3-beta.1', '^1.2.3', '1.2', '*', undefined].map(exactNpmVersion)).toEqual([
      '1.2.3',
      '1.2.3',
      '1.2.3-beta.1',
      null,
      null,
      null,
      null,
    ])
  })
})
