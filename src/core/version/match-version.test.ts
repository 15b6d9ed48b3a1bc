import fc from 'fast-check'
import maxSatisfying from 'semver/ranges/max-satisfying.js'
import { describe, expect, test } from 'vitest'
import { type MatchOptions, matchVersion } from './match-version.ts'

/** Versions as a project that keeps to semver has them. */
const RELEASES = ['4.9.3', '5.0.0', '5.2.0', '5.2.7', '5.3.1', '5.4.0', '6.0.0', '6.1.0-rc.1', '6.1.0-rc.2']
const EARLY = ['0.1.0', '0.2.3', '0.2.9', '0.3.0', '1.0.0-alpha.1']
const PYTHON = ['2.7', '3.9', '3.10', '3.11', '3.12', '3.13', '3.14.0a2']
const MONTHS = ['22.04', '23.10', '24.04', '24.10', '25.04']
const YEARS = ['2023.12', '2024.4', '2024.10', '2024.10.1']
const DAYS = ['2023-12-31', '2024-10-01', '2024-10-15', '2024-11-02']
const NAMES = ['main', 'stable', 'v4', 'v5']

type Row = readonly [target: string | undefined, versions: readonly string[], best: string | null, note?: 'prerelease']

const TABLE: readonly Row[] = [
  // No target, and latest
  [undefined, RELEASES, '6.0.0'],
  ['', RELEASES, '6.0.0'],
  ['latest', RELEASES, '6.0.0'],
  ['LATEST', RELEASES, '6.0.0'],
  ['latest', [], null],
  ['latest', ['6.1.0-rc.1', '6.1.0-rc.2', '6.1.0-beta.9'], '6.1.0-rc.2', 'prerelease'],
  ['latest', PYTHON, '3.13'],
  ['latest', MONTHS, '25.04'],
  ['latest', DAYS, '2024-11-02'],
  ['latest', NAMES, 'v5'],
  ['latest', ['main', 'stable'], 'stable'],
  ['latest', ['6.0.0', 'latest'], 'latest'],
  // One version
  ['5.2.0', RELEASES, '5.2.0'],
  ['v5.2.0', RELEASES, '5.2.0'],
  ['5.2.0+build.7', RELEASES, '5.2.0'],
  ['=5.2.0', RELEASES, '5.2.0'],
  ['5.2.1', RELEASES, null],
  ['7.0.0', RELEASES, null],
  ['6.1.0', RELEASES, null],
  ['6.1.0-rc.1', RELEASES, '6.1.0-rc.1'],
  ['6.1.0-rc.3', RELEASES, null],
  ['3.11.0', PYTHON, '3.11'],
  ['3.11.4', PYTHON, null],
  ['3.14.0a2', PYTHON, '3.14.0a2'],
  ['3.14.0-alpha.2', PYTHON, '3.14.0a2'],
  ['1.2.3.4', ['1.2.3.4', '1.2.3.5'], '1.2.3.4'],
  ['1.2.3.4', ['1.2.3', '1.2.3.5'], null],
  // Numbers left out: an X-range
  ['5', RELEASES, '5.4.0'],
  ['5', ['5.0.0', '5.1.0'], '5.1.0'],
  ['5.2', RELEASES, '5.2.7'],
  ['v5.2', RELEASES, '5.2.7'],
  ['5.2', ['5.2', '5.2.7'], '5.2'],
  ['5', ['v5', '5.4.0'], 'v5'],
  ['5.5', RELEASES, null],
  ['6.1', RELEASES, '6.1.0-rc.2', 'prerelease'],
  ['3', PYTHON, '3.13'],
  ['3.1', PYTHON, null],
  // X-ranges
  ['*', RELEASES, '6.0.0'],
  ['x', RELEASES, '6.0.0'],
  ['5.x', RELEASES, '5.4.0'],
  ['5.X.x', RELEASES, '5.4.0'],
  ['5.*', RELEASES, '5.4.0'],
  ['5.2.x', RELEASES, '5.2.7'],
  ['7.x', RELEASES, null],
  ['*', ['1.0.0-alpha.1'], '1.0.0-alpha.1', 'prerelease'],
  // Tilde: the third number may grow, and the second too if it is left out
  ['~5.2.0', RELEASES, '5.2.7'],
  ['~5.2', RELEASES, '5.2.7'],
  ['~5', RELEASES, '5.4.0'],
  ['~0.2.3', EARLY, '0.2.9'],
  ['~> 5.2', RELEASES, '5.2.7'],
  // Caret: the first number that is not zero stays
  ['^5.2', RELEASES, '5.4.0'],
  ['^5.2.8', RELEASES, '5.4.0'],
  ['^5.5.0', RELEASES, null],
  ['^0.2.3', EARLY, '0.2.9'],
  ['^0.1', EARLY, '0.1.0'],
  ['^0.0.3', EARLY, null],
  ['^1', EARLY, '1.0.0-alpha.1', 'prerelease'],
  ['^3.10', PYTHON, '3.13'],
  // Comparators and sets of them
  ['>=5 <6', RELEASES, '5.4.0'],
  ['>=5.0.0 <5.3', RELEASES, '5.2.7'],
  ['<5', RELEASES, '4.9.3'],
  ['<=5', RELEASES, '5.4.0'],
  ['>5', RELEASES, '6.0.0'],
  ['> 5.2.0 < 5.3.0', RELEASES, '5.2.7'],
  ['5.2 - 5.3', RELEASES, '5.3.1'],
  ['5.2.0 - 5.2.6', RELEASES, '5.2.0'],
  ['4.x || 5.2.x', RELEASES, '5.2.7'],
  ['7.x || 8.x', RELEASES, null],
  // Prereleases: only those of exactly the version that a range names
  ['>=6.1.0-rc.1', RELEASES, '6.1.0-rc.2'],
  ['^6.1.0-rc.1', RELEASES, '6.1.0-rc.2'],
  ['>=5.0.0-0', RELEASES, '6.0.0'],
  ['>=6', RELEASES, '6.0.0'],
  ['>6', RELEASES, null],
  ['>6.0.0', RELEASES, '6.1.0-rc.2', 'prerelease'],
  ['3.14', PYTHON, '3.14.0a2', 'prerelease'],
  // Calendar
  ['24.04', MONTHS, '24.04'],
  ['24.4', MONTHS, '24.04'],
  ['24', MONTHS, '24.10'],
  ['24.x', MONTHS, '24.10'],
  ['23.04', MONTHS, null],
  ['>=22.04 <24.10', MONTHS, '24.04'],
  ['2024', YEARS, '2024.10.1'],
  ['2024.4', YEARS, '2024.4'],
  ['2024.04', YEARS, '2024.4'],
  ['~2024.10.0', YEARS, '2024.10.1'],
  ['2024-10-01', DAYS, '2024-10-01'],
  ['2024-10', DAYS, '2024-10-15'],
  ['2024', DAYS, '2024-11-02'],
  ['2024-10-02', DAYS, null],
  ['>=2024-01-01 <2024-11-01', DAYS, '2024-10-15'],
  ['2024-10-01 - 2024-10-31', DAYS, '2024-10-15'],
  ['2024.10.1', DAYS, '2024-10-01'],
  // Names
  ['stable', NAMES, 'stable'],
  ['Stable', NAMES, 'stable'],
  ['main', NAMES, 'main'],
  ['v5', NAMES, 'v5'],
  ['5', NAMES, 'v5'],
  ['next', NAMES, null],
  ['stab', NAMES, null],
  ['^5', ['stable', 'main'], null],
  // Invalid requests
  ['not a range', RELEASES, null],
  ['>=', ['5.0.0'], null],
  ['5.2.0 || stable', RELEASES, null],
  ['>5 <', RELEASES, null],
]

describe('a request for a version', () => {
  const rows = TABLE.map(([target, versions, best, note]) => ({ target, versions, best, note }))

  test.each(rows)('chooses $best for $target among $versions', ({ target, versions, best, note }) => {
    const found = matchVersion(target, versions)
    expect({ best: found.best, isPrerelease: found.isPrerelease, isOlder: found.isOlder }).toEqual({
      best,
      isPrerelease: note === 'prerelease',
      isOlder: false,
    })
    expect(matchVersion(target, versions.toReversed()).best).toBe(best)
    expect(found.matches[0] ?? null).toBe(best)
  })

  test('returns how the request was interpreted', () => {
    const kinds = ['latest', '5.2.0', '9.9.9', '5', '5.x', 'next'].map((target) => matchVersion(target, RELEASES).kind)
    expect(kinds).toEqual(['latest', 'exact', 'exact', 'series', 'range', 'exact'])
    expect(matchVersion('5.2', ['5.2', '5.2.7']).kind).toBe('exact')
  })

  test('lists all matches, the newest first', () => {
    expect(matchVersion('5.x', RELEASES).matches).toEqual(['5.4.0', '5.3.1', '5.2.7', '5.2.0', '5.0.0'])
  })

  const older: readonly (readonly [target: string, versions: readonly string[], best: string | null])[] = [
    ['5.2.1', RELEASES, '5.2.0'],
    ['5.2.0', RELEASES, '5.2.0'],
    ['6.1.0', RELEASES, '6.0.0'],
    ['9', RELEASES, '6.0.0'],
    ['^5.5', RELEASES, '5.4.0'],
    ['5.5.x', RELEASES, '5.4.0'],
    ['3.11.4', PYTHON, '3.11'],
    ['24.06', MONTHS, '24.04'],
    ['2024-10-14', DAYS, '2024-10-01'],
    ['4.0.0', RELEASES, null],
    ['6.1.0', ['6.1.0-rc.1'], '6.1.0-rc.1'],
    ['next', RELEASES, null],
    ['9.0.0', ['stable', 'main'], null],
  ]

  test.each(older)('given the target %j or older among %j, chooses %j', (target, versions, best) => {
    const found = matchVersion(target, versions, { orOlder: true })
    expect(found.best).toBe(best)
    expect(found.isOlder).toBe(best !== null && matchVersion(target, versions).best === null)
  })

  const version = fc
    .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.option(fc.constantFrom('alpha.1', 'rc.1', 'rc.2', '0'), { freq: 3 }))
    .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre === null ? '' : `-${pre}`}`)
  const partial = fc.tuple(fc.nat(3), fc.nat(3)).map((numbers) => numbers.join('.'))
  const range = fc.oneof(
    fc
      .tuple(fc.constantFrom('^', '~', '>=', '<', '<=', '>'), fc.oneof(version, partial))
      .map((parts) => parts.join('')),
    fc.tuple(version, version).map((parts) => parts.join(' - ')),
    fc.tuple(partial, partial).map(([a, b]) => `>=${a} <${b}`),
    fc.tuple(partial, partial).map(([a, b]) => `${a}.x || ^${b}`),
  )

  test('a range gives the same result as semver, wherever semver has one', () => {
    fc.assert(
      fc.property(range, fc.uniqueArray(version, { maxLength: 8 }), (target, versions) => {
        const expected = maxSatisfying(versions, target)
        const found = matchVersion(target, versions)
        if (expected !== null) expect([found.best, found.isPrerelease]).toEqual([expected, false])
        else expect(found.best === null || found.isPrerelease).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('any request gives one of the versions or none', () => {
    const soup = fc
      .array(fc.constantFrom(...'0123456789.xX*-+~^<>=| vrc'.split(''), ' - ', '||', '01', 'rc.01'), { maxLength: 14 })
      .map((parts) => parts.join(''))
    const any = fc.oneof(soup, fc.string(), range)
    fc.assert(
      fc.property(any, fc.array(any, { maxLength: 4 }), fc.boolean(), (target, versions, orOlder) => {
        const { best, matches } = matchVersion(target, versions, { orOlder } satisfies MatchOptions)
        expect(best === null || versions.includes(best)).toBe(true)
        expect(matches.every((one) => versions.includes(one))).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('a request of any length is answered fast', () => {
    const long = ['>=1.0.0 '.repeat(20_000), `1${' '.repeat(50_000)}-`, '^'.repeat(50_000), `1.0.0-${'9'.repeat(400)}`]
    for (const target of long) expect(matchVersion(target, ['5.0.0', target.slice(0, 300)]).best).toBe(null)
  })
})
