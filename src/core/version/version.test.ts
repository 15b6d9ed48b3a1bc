import fc from 'fast-check'
import compareSemver from 'semver/functions/compare.js'
import { describe, expect, test } from 'vitest'
import { compareVersions, parseVersion, sortNewestFirst } from './version.ts'

describe('a label', () => {
  const labels: Record<string, readonly [numbers: readonly number[], prerelease: readonly (string | number)[]]> = {
    '5.2.0': [[5, 2, 0], []],
    'v5.2.0': [[5, 2, 0], []],
    V5: [[5], []],
    ' 5.2 ': [[5, 2], []],
    '1.2.3.4': [[1, 2, 3, 4], []],
    '5.2.0-rc.1': [
      [5, 2, 0],
      ['rc', 1],
    ],
    '5.2-beta': [[5, 2], ['beta']],
    '5.2.0-x.7.z.92': [
      [5, 2, 0],
      ['x', 7, 'z', 92],
    ],
    '5.2.0+build.5': [[5, 2, 0], []],
    '5.2.0-rc.1+build.5': [
      [5, 2, 0],
      ['rc', 1],
    ],
    '3.13.0rc1': [
      [3, 13, 0],
      ['rc', 1],
    ],
    '3.13a2': [
      [3, 13],
      ['alpha', 2],
    ],
    '24.04': [[24, 4], []],
    '2024.10': [[2024, 10], []],
    '2024-10-01': [[2024, 10, 1], []],
    '2024-10': [[2024, 10], []],
    '2024-13': [[2024], [13]],
    stable: [[], []],
    main: [[], []],
    '7e3f': [[], []],
    '5.': [[], []],
    '5..2': [[], []],
    '1234567890123456': [[], []],
    '': [[], []],
  }

  test.each(Object.entries(labels))('%j is parsed', (text, [numbers, prerelease]) => {
    expect(parseVersion(text)).toEqual({ text, numbers, prerelease })
  })

  test('a version of any length is parsed fast', () => {
    for (const text of ['1.'.repeat(50_000), '1-'.repeat(50_000), `1.0.0-${'a.'.repeat(50_000)}`]) {
      expect(parseVersion(text).numbers).toEqual([])
    }
  })
})

describe('the order', () => {
  const orders: Record<string, readonly string[]> = {
    'is that of section 11.2 of the semver specification': ['1.0.0', '2.0.0', '2.1.0', '2.1.1'],
    'is that of section 11.4 of the semver specification': [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
    ],
    'is by numbers, not by characters': ['5.2', '5.9', '5.10', '10.0'],
    'is by time for years and months': ['23.10', '24.04', '24.10', '25.04'],
    'is by time for days': ['2023-12-31', '2024-01-15', '2024-10-01'],
    'takes all four numbers into account': ['1.2.3', '1.2.3.1', '1.2.3.10', '1.2.4'],
    'puts names before numbers, except latest': ['main', 'lts', 'stable', '0.1', '99.0', 'latest'],
    'is by characters for spellings of one version': ['5.2', '5.2.0', 'v5.2.0'],
  }

  test.each(Object.entries(orders))('%s', (_what, versions) => {
    expect(versions.toReversed().sort(compareVersions)).toEqual(versions)
    expect(sortNewestFirst(versions).map(({ text }) => text)).toEqual(versions.toReversed())
  })

  const identifier = fc.oneof(fc.nat(20).map(String), fc.stringMatching(/^[a-zA-Z-][0-9a-zA-Z-]{0,3}$/))
  const strict = fc
    .tuple(fc.nat(3), fc.nat(12), fc.nat(3), fc.array(identifier, { maxLength: 3 }))
    .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre.length === 0 ? '' : `-${pre.join('.')}`}`)
  const label = fc.oneof(
    strict,
    fc.string({ maxLength: 6 }),
    fc.stringMatching(/^v?[0-9]{1,2}(\.[0-9]{1,2}){0,3}(-?(a|rc|beta)\.?[0-9])?$/),
    fc.constantFrom(
      'latest',
      'Latest',
      'stable',
      'main',
      '2024-10-01',
      '2024-10',
      '24.04',
      '24.4',
      '5',
      '5.0',
      'v5.0.0',
    ),
  )

  test('equals that of semver for all semver labels', () => {
    fc.assert(
      fc.property(strict, strict, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(compareSemver(a, b))
      }),
      { numRuns: 2000 },
    )
  })

  test('is total, antisymmetric and transitive for all labels', () => {
    fc.assert(
      fc.property(label, label, label, (a, b, c) => {
        const ab = Math.sign(compareVersions(a, b))
        expect(ab === 0).toBe(a === b)
        expect(Math.sign(compareVersions(b, a))).toBe(ab === 0 ? 0 : -ab)
        const [low = '', middle = '', high = ''] = [a, b, c].sort(compareVersions)
        expect(compareVersions(low, middle)).toBeLessThanOrEqual(0)
        expect(compareVersions(middle, high)).toBeLessThanOrEqual(0)
        expect(compareVersions(low, high)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 2000 },
    )
  })
})
