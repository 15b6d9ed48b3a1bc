import { expect, test } from 'vitest'
import type { Change, ComparedPage } from './change.ts'
import { comparePages } from './compare-pages.ts'

const page = (path: string, ...lines: string[]): ComparedPage => ({
  path,
  markdown: `${lines.join('\n')}\n`,
  definitions: null,
})

const API = page(
  'index.d.ts.md',
  '# API of pot',
  '',
  ...['Kiln', 'fire', 'glaze', 'paint', 'dry'].flatMap((name) => [
    `## \`${name}\``,
    '',
    '```ts',
    `const ${name}: 1`,
    '```',
    '',
  ]),
)

/** Changes that the newer version announces, while its API stays the same. */
function announce(...changelog: string[]): readonly Change[] {
  return compare([API], [API, page('CHANGELOG.md', '# Changelog', '', ...changelog)])
}

function compare(before: readonly ComparedPage[], after: readonly ComparedPage[]): readonly Change[] {
  const work = comparePages({ before, after, versions: { from: '1.4.0', to: '2.1.0' } })
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value.changes
  }
}

const shorten = (changes: readonly Change[]) =>
  changes.map(({ kind, name, newName }) => `${kind} ${name}${newName === null ? '' : ` > ${newName}`}`)

test('changes of behaviour and names without declarations are told with the sentence of the changelog', () => {
  const changes = announce(
    '## 2.0.0',
    '',
    '### Breaking changes',
    '',
    '- `fire` now waits for the kiln. Use `dry` before it.',
    '- Removed the undocumented `smoke` helper, use `paint` instead',
  )
  expect(shorten(changes)).toEqual(['removed smoke', 'changed fire'])
  expect(changes[1]).toMatchObject({ path: 'CHANGELOG.md', line: 7, lines: ['`fire` now waits for the kiln.'] })
})

test('an entry tells the new name and the owner of what it names', () => {
  const found = announce(
    '## 2.0.0',
    '',
    '### Major Changes',
    '',
    '- chore (core): rename coneLimit to maxCone',
    '- remove `slow` and `door` from `Kiln`',
    '- The deprecated `ashTray` alias has been removed',
  )
  expect(shorten(found)).toEqual([
    'removed ashTray',
    'removed Kiln.slow',
    'removed Kiln.door',
    'renamed coneLimit > maxCone',
  ])
})

test('a name that lost a part, or that still exists, is changed and not removed', () => {
  expect(
    shorten(
      announce('## 2.0.0', '', '- Removed the default value from `glaze`', '- `dry` no longer supports callbacks'),
    ),
  ).toEqual(['changed glaze', 'changed dry'])
})

test('features, fixes, minor releases and other versions announce nothing', () => {
  const changes = announce(
    '## 2.1.0',
    '',
    '- `fire` now returns earlier',
    '',
    '## 2.0.0',
    '',
    '### Features',
    '',
    '- `glaze` now takes colours',
    '',
    '### Bug Fixes',
    '',
    '- `paint` never throws',
    '',
    '## 1.4.0',
    '',
    '- **Breaking:** removed `dry`',
  )
  expect(changes).toEqual([])
})

test('file names, values, constants of HTTP and additions are no symbols', () => {
  const changes = announce(
    '## 2.0.0',
    '',
    '### Breaking changes',
    '',
    '- Requires `package.json` with `true` instead of `null`',
    '- Removed `GET` and `index.mjs`',
    '- Add `--fast` and drop Node.js 18',
    '- See `pot/2/remove-fire`',
    '- Remove compatibility checks ([#52](https://x.test)) ([`def791f`](https://x.test))',
  )
  expect(changes).toEqual([])
})

test('a guide without versions announces only what the older version did not say', () => {
  const guide = (...lines: string[]) => page('MIGRATION.md', '# Migration', '', ...lines)
  const old = '- `fire` was removed'
  expect(compare([API, guide(old)], [API, guide(old)])).toEqual([])
  expect(shorten(compare([API, guide(old)], [API, guide(old, '- `dry` now waits')]))).toEqual(['changed dry'])
})

test('the label of a list says what happened to its items', () => {
  const history = [
    page('History.md', '1.0.0', '=====', '', '- add `kiln.warm`, `kiln.json` and `kiln.stack`'),
    page('README.md', '# Pot'),
  ]
  const changes = compare(history, [
    page(
      'History.md',
      ...['2.0.0', '=====', ''],
      ...['* remove:', '  - `kiln.warm` - use `kiln.heat`', '  - `kiln.json(pot, cone)` signature - use `kiln.cone`'],
      ...['* change:', '  - `kiln.stack` callback is always async', '* deps: clay@2'],
      ...['', '1.0.0', '=====', '', '- add `kiln.warm`, `kiln.json` and `kiln.stack`'],
    ),
    page('README.md', '# Pot'),
  ])
  expect(shorten(changes)).toEqual(['removed kiln.warm', 'changed kiln.json', 'changed kiln.stack'])
  expect(changes[0]?.lines).toEqual(['remove: `kiln.warm` - use `kiln.heat`'])
})

test('a sentence of a megabyte is cut, and does not block the comparison', () => {
  const changes = announce(
    '## 2.0.0',
    '',
    '### Breaking changes',
    '',
    `- Removed \`fire\` ${'`'.repeat(500_000)}${'a'.repeat(500_000)}`,
  )
  expect(shorten(changes)).toEqual(['changed fire'])
})

test('the scope of an entry is what changed if the entry names nothing else', () => {
  const changes = announce(
    '## 2.0.0',
    '',
    '### BREAKING CHANGES',
    '',
    '- **dry:** a pot must be dry before the end',
    '- **shelf:** pots must fit',
    '- **paint:** `glaze` is no longer wet',
  )
  expect(shorten(changes)).toEqual(['changed dry', 'changed glaze'])
})
