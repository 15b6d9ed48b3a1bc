import { describe, expect, test } from 'vitest'
import type { Change, ComparedPage } from './change.ts'
import { type Comparison, type ComparisonInput, comparePages } from './compare-pages.ts'

function page(path: string, ...blocks: string[]): ComparedPage {
  return { path, markdown: `${blocks.join('\n\n')}\n`, definitions: null }
}

/** An API page as it is made of type declarations. */
function api(module: string, ...blocks: string[]): ComparedPage {
  return page(`${module}/index.d.ts.md`, `# API of ${module}`, ...blocks)
}

const ts = (text: string) => `\`\`\`ts\n${text}\n\`\`\``

function runToEnd(input: ComparisonInput): Comparison {
  const work = comparePages(input)
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

function compare(before: readonly ComparedPage[], after: readonly ComparedPage[]): readonly Change[] {
  return runToEnd({ before, after, versions: { from: '1.0.0', to: '2.0.0' } }).changes
}

/** Changes in short: `removed a.b`, `renamed a > b`. */
function shorten(changes: readonly Change[]): string[] {
  return changes.map(({ kind, name, newName }) => `${kind} ${name}${newName === null ? '' : ` > ${newName}`}`)
}

describe('symbols of API pages', () => {
  test('are reported as removed, added and changed, with their members', () => {
    const before = api(
      'pot',
      '## `Kiln`',
      ts('class Kiln'),
      '- `readonly size: number`\n- `door?: string`: The door. Default: `left`',
      '### `Kiln.fire(cone, options?)`',
      ts('fire(cone: number, options?: { slow: boolean }): void'),
      '## `glaze(pot)`',
      ts('function glaze(pot: string): void'),
      '## `old`',
      ts('const old: 1'),
    )
    const after = api(
      'pot',
      '## `Kiln`',
      ts('class Kiln'),
      '- `door?: string`: The door. Default: `right`\n- `vent: boolean`',
      '### `Kiln.fire(cone, options?)`',
      ts('fire(\n  cone: number,\n  options?: { fast: boolean },\n): void'),
      '## `glaze(pot)`',
      ts('function glaze(\n  pot: string,\n): void'),
      '**Deprecated.** Use `paint` instead.',
    )
    const changes = compare([before], [after])
    expect(shorten(changes)).toEqual([
      'removed old',
      'removed Kiln.size',
      'changed Kiln.fire',
      'changed Kiln.door',
      'deprecated glaze',
      'added Kiln.vent',
    ])
    expect(changes[2]).toMatchObject({
      lostNames: ['slow'],
      before: 'fire(cone: number, options?: { slow: boolean }): void',
    })
    expect(changes[3]?.lines).toEqual(['- Default: `left`', '+ Default: `right`'])
    expect(changes[4]?.lines).toEqual(['Use `paint` instead.'])
  })

  test('are recognised under a new name by their signature, text or members', () => {
    const text = 'Fires a pot until it is hard enough to hold water for years.'
    const body = (name: string) => ts(`function ${name}(pot: string, cone: number): Promise<string>`)
    const before = api(
      'pot',
      '## `burn(pot, cone)`',
      body('burn'),
      '## `Firing`',
      ts('interface Firing'),
      '- `a: 1`\n- `b: 2`\n- `c: 3`',
    )
    const after = api(
      'pot',
      '## `fire(pot, cone)`',
      body('fire'),
      text,
      '## `Burn`',
      ts('interface Burn'),
      '- `a: 1`\n- `b: 2`\n- `c: 3`',
    )
    expect(shorten(compare([before], [after]))).toEqual(['renamed burn > fire', 'renamed Firing > Burn'])
  })

  test('move between the modules of a package', () => {
    const one = ['## `one`', ts('const one: 1')]
    const two = ['## `two`', ts('const two: 2')]
    const before = [api('pot', ...one, ...two)]
    const after = [api('pot', ...one), api('pot/extra', ...two)]
    expect(shorten(compare(before, after))).toEqual(['moved two > pot/extra', 'added pot/extra'])
  })

  test('that a page only lists are known with their members', () => {
    const described = ['## `Thing`', ts('interface Thing'), '- `a: string`']
    const before = [api('pot', ...described), api('pot/mini', 'As in `pot`: `Thing`.')]
    const after = [api('pot', 'As in `pot/mini`: `Thing`.'), api('pot/mini', ...described)]
    expect(compare(before, after)).toEqual([])
  })

  test('keep members that the owner now inherits or intersects', () => {
    const before = api('pot', '## `Options`', ts('interface Options'), '- `a: string`')
    const after = api(
      'pot',
      '## `Options`',
      ts('type Options = Base & { b: string }'),
      '- `b: string`',
      '## `Base`',
      ts('interface Base'),
      '- `a: string`',
    )
    expect(shorten(compare([before], [after])).filter((line) => line.startsWith('removed'))).toEqual([])
  })
})

describe('signatures', () => {
  test('are the same with other layout, other names of positional parameters, and `let` instead of `const`', () => {
    const before = api(
      'pot',
      '## `fire`',
      ts('function fire(pot: string, ...rest: number[]): { a: 1 b: 2 }'),
      '## `Kiln`',
      ts('class Kiln'),
      '- `readonly pots: Pot[]`\n- `door?: Door | undefined`',
      '## `size`',
      ts('const size: 1'),
    )
    const after = api(
      'pot',
      '## `fire`',
      ts('function fire(kiln: string, ...others: number[]): { a: 1; b: 2; }'),
      '## `Kiln`',
      ts('class Kiln'),
      '- `get pots(): Array<Pot>`\n- `door?: Door`',
      '## `size`',
      ts('let size: 1'),
    )
    expect(compare([before], [after])).toEqual([])
    const option = api('pot', '## `fire`', ts('function fire(options: { pot: 1 }): void'))
    const renamed = api('pot', '## `fire`', ts('function fire(options: { kiln: 1 }): void'))
    expect(compare([option], [renamed])).toMatchObject([{ kind: 'changed', name: 'fire', lostNames: ['pot'] }])
  })

  test('do not lose the path of an imported type', () => {
    const before = api('pot', '## `fire`', ts("const fire: typeof import('clay')['fire']"))
    const after = api('pot', '## `fire`', ts('const fire: Fire'))
    expect(compare([before], [after])).toMatchObject([{ kind: 'changed', lostNames: [] }])
  })
})

describe('types that are not exported', () => {
  const internal = (name: string, ...items: string[]) => [
    `## \`${name}\``,
    ts(`interface ${name}`),
    '**Not exported.**',
    items.map((item) => `- \`${item}: 1\``).join('\n'),
  ]
  const made = ['## `Options`', ts('type Options = Current & Old')]

  test('give their members to the type that is made of them', () => {
    const before = api('pot', '## `Options`', ts('interface Options'), '- `cone: 1`\n- `door: 1`\n- `slow: 1`')
    const middle = api('pot', ...made, ...internal('Current', 'cone'), ...internal('Old', 'door'))
    const after = api('pot', ...made, ...internal('Current', 'cone'), ...internal('Old', 'vent'))
    const namesOf = (changes: readonly Change[]) => shorten(changes).filter((line) => !line.startsWith('changed'))
    expect(namesOf(compare([before], [middle]))).toEqual(['removed Options.slow'])
    expect(namesOf(compare([middle], [after]))).toEqual(['removed Options.door', 'added Options.vent'])
  })

  test('hide no inherited member, also of types with parameters and through several types', () => {
    const base = ['## `Base`', ts('interface Base<T>'), '- `heat: 1`']
    const before = api('pot', ...base, '## `Kiln`', ts('class Kiln'), '- `heat: 1`\n- `cone: 1`')
    const kiln = ['## `Kiln`', ts("class Kiln<P extends Cone = '/'> extends Middle<{ type: 'kiln' }>")]
    const cone = ['## `Cone`', ts('interface Cone'), '- `cone: 1`']
    const after = api(
      'pot',
      ...[...base, ...kiln, ...cone, '## `Middle`', ts('class Middle<T> interface Middle<T> extends Base<T>')],
      '**Not exported.**',
    )
    expect(shorten(compare([before], [after])).filter((one) => one.startsWith('removed'))).toEqual([
      'removed Kiln.cone',
    ])
  })

  test('of other packages may have a member that a type no longer lists', () => {
    const options = (signature: string, ...items: string[]) =>
      api('pot', '## `Options`', ts(signature), items.map((item) => `- \`${item}: 1\``).join('\n'))
    const before = options('interface Options', 'port', 'host')
    expect(shorten(compare([before], [options('type Options = Partial<SocketOptions>', 'host')]))).toEqual([
      'changed Options',
    ])
    const foreign = options('interface Options extends SocketOptions', 'port', 'host')
    const less = options('interface Options extends SocketOptions', 'host')
    expect(shorten(compare([foreign], [less]))).toEqual(['removed Options.port'])
  })

  test('are no names themselves, and a name that is no longer exported is removed', () => {
    const kept = ['## `Kiln`', ts('class Kiln'), '- `size: 1`']
    const before = api('pot', ...kept, ...internal('Part'), '## `Door`', ts('interface Door'))
    const after = api('pot', ...kept, ...internal('Other'), ...internal('Door'))
    expect(shorten(compare([before], [after]))).toEqual(['removed Door'])
  })
})

describe('symbols of code', () => {
  test('are compared by file, and those with an underscore are internal', () => {
    const code = (path: string, ...names: string[]): ComparedPage => ({
      path,
      markdown: '',
      definitions: names.map((name, i) => ({ name, signature: `def ${name}(self)`, line: i + 1 })),
    })
    const before = [code('pot/kiln.py', 'Kiln', 'Kiln.fire', 'Kiln._heat', 'glaze')]
    const after = [code('pot/kiln.py', 'Kiln'), code('pot/paint.py', 'glaze')]
    expect(shorten(compare(before, after))).toEqual([
      'removed Kiln.fire',
      'moved glaze > pot/paint.py',
      'added pot/paint.py',
    ])
  })
})

describe('names in prose', () => {
  test('are removed if the new pages do not mention them in code', () => {
    const before = page(
      'README.md',
      '# Pot',
      '## `fire(pot)`',
      'Fires.',
      '### options.slow',
      'Slow.',
      '### options.kept',
      'Kept.',
    )
    const after = page('README.md', '# Pot', '## `fire(pot, cone)`', 'Fires, see `kept`.')
    const symbols = compare([before], [after]).filter(({ subject }) => subject === 'symbol')
    expect(shorten(symbols)).toEqual(['removed options.slow', 'changed fire'])
  })

  test('after an example that shows a fence are found', () => {
    const example = '````md\n```js\nfire()\n````'
    const changes = compare([page('README.md', example, '### options.slow', 'Slow.')], [page('README.md', example)])
    expect(changes.map(({ subject, name }) => [subject, name])).toContainEqual(['symbol', 'options.slow'])
  })
})

const LONG = 'A kiln must dry for a whole day before the first firing, because wet walls crack when they become hot.'

describe('sections', () => {
  test('are compared by their words, and not by their markup', () => {
    const before = page(
      'guide/kiln',
      '# Kiln',
      `Read the [manual](/a).\n${LONG}`,
      '## Firing',
      '- one\n- two',
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
    )
    const after = page(
      'guide/kiln',
      '# Kiln',
      `Read the [manual](/b/c).`,
      LONG,
      '### Firing',
      '* **one**\n* two',
      '| a | b |\n|:-|-:|\n| 1 | 2 |',
    )
    expect(compare([before], [after])).toEqual([])
  })

  test('have a short diff', () => {
    const before = page('guide', '# Kiln', LONG, 'Fire it to cone 6.')
    const after = page('guide', '# Kiln', LONG, 'Fire it to cone 7.')
    expect(compare([before], [after])).toMatchObject([
      { kind: 'text', subject: 'section', name: 'Kiln', lines: ['- Fire it to cone 6.', '+ Fire it to cone 7.'] },
    ])
  })

  test('include the fences that an example shows', () => {
    const [before, after] = ['js', 'ts'].map((name) =>
      page('guide', '# Kiln', LONG, `\`\`\`\`md\n\`\`\`${name}\n\`\`\`\``),
    )
    expect(compare(before ? [before] : [], after ? [after] : [])).toMatchObject([{ lines: ['- ```js', '+ ```ts'] }])
  })

  test('are recognised by their text under another heading and on another page', () => {
    const before = [page('a', '# Guide', '## Drying', LONG), page('b', '# Old', `${LONG} Twice.`)]
    const after = [page('a', '# Guide', '## How to dry', LONG), page('c', '# Old', `${LONG} Twice.`)]
    expect(shorten(compare(before, after))).toEqual(['renamed Drying > How to dry', 'moved b > c'])
  })

  test('of a page that came or went are one change', () => {
    const [one, two] = [
      page('a', '# One', LONG, '## More', 'More words.'),
      page('b', '# Two', 'Other words altogether.'),
    ]
    expect(shorten(compare([one], [one, two]))).toEqual(['added b'])
    expect(shorten(compare([one, two], [two]))).toEqual(['removed a'])
  })

  test('that become deprecated are told apart', () => {
    const before = page('a', '# `fire`', LONG)
    const after = page('a', '# `fire`', LONG, 'Deprecated: use another.')
    expect(shorten(compare([before], [after]))).toEqual(['deprecated fire'])
  })
})

describe('a new theme', () => {
  const names = ['kiln', 'glaze', 'clay', 'wheel']

  test('changes nothing, even if it adds the same line to every page', () => {
    const before = names.map((name) => page(name, `# ${name}`, `${LONG} ${name}`, '## Use', `Use the ${name}.`))
    const after = names.map((name) =>
      page(
        name,
        `# ${name}`,
        'On this page',
        `${LONG} ${name}`,
        '#### Use',
        `Use the ${name}.`,
        'Was this page helpful?',
      ),
    )
    expect(compare(before, after)).toEqual([])
  })
})

describe('release notes', () => {
  const changelog = page(
    'CHANGELOG.md',
    '# Changelog',
    '## 2.0.0 (2024-01-02)',
    '### Features',
    '- Adds things',
    '### Breaking changes',
    '- `old` is gone',
    '## [1.5.0]',
    '- Something small',
    '## 1.0.0',
    '- First',
  )
  const guides = [
    page('docs/migration-v2.md', '# To version 2', 'Replace `old`.'),
    page('docs/migration-v1.md', '# To version 1', 'No.'),
  ]

  test('of the versions in between come first, guides before changelogs, and breaking lines before others', () => {
    const { notes } = runToEnd({
      before: [],
      after: [changelog, ...guides],
      versions: { from: '1.0.0', to: '2.1.0' },
    })
    expect(notes.map(({ kind, version, lines }) => [kind, version, lines[0]])).toEqual([
      ['migration', '2', 'Replace `old`.'],
      ['release', '2.0.0', '- `old` is gone'],
      ['release', '1.5.0', '- Something small'],
    ])
  })

  test('leave out code, also code that shows a fence', () => {
    const example = '````md\n```\n- Removed, says an example\n```\n````'
    const { notes } = runToEnd({
      before: [],
      after: [page('CHANGELOG.md', '## 2.0.0', '- One', example, '- Two')],
      versions: { from: '1.0.0', to: '2.0.0' },
    })
    expect(notes[0]?.lines).toEqual(['- One', '- Two'])
  })

  test('are no changed text', () => {
    expect(compare([], [changelog])).toEqual([])
  })

  test('put the symbols that they name first', () => {
    const before = api(
      'pot',
      '## `first`',
      ts('const first: 1'),
      '## `old`',
      ts('const old: 1'),
      '## `rest`',
      ts('const rest: 2'),
    )
    const after = [api('pot', '## `rest`', ts('const rest: 2')), changelog]
    expect(shorten(compare([before], after))).toEqual(['removed old', 'removed first'])
  })
})

test('a version without any declarations has not lost the names of the other', () => {
  const readme = page('README.md', '# Pot', LONG, 'Call `fire(pot)`.')
  expect(compare([api('pot', '## `fire`', ts('function fire(): void')), readme], [readme])).toEqual([])
})

test('identical versions have no changes', () => {
  const pages = [api('pot', '## `a`', ts('const a: 1')), page('README.md', '# Pot', LONG)]
  expect(compare(pages, structuredClone(pages))).toEqual([])
})

describe('files of type declarations without an API page', () => {
  const declarations = (path: string, ...lines: string[]): ComparedPage => {
    return { path, markdown: `${lines.join('\n')}\n`, definitions: [] }
  }

  test('are compared by name and member, wherever their file is', () => {
    const before = declarations(
      'types/1/pots.d.ts',
      "declare module 'pots' {",
      '  namespace Pots {',
      '    interface Kiln<T extends { a: 1 } = { a: 1 }> {',
      '      /** How hot; `}` and ; are no end. */',
      "      cone: 'low' | 'high';",
      '      door?: {',
      '        left: boolean',
      '      }',
      '      fire(cone: number): void',
      '      fire(options: object): void',
      '    }',
      '    interface Wheel { size: number }',
      '    namespace Wheel {',
      '      type Speed = 1',
      '        | 2',
      '      interface Pedal { foot: string }',
      '    }',
      '    function glaze(pot: string): void',
      '  }',
      '}',
    )
    const after = declarations(
      'types/pots.d.ts',
      "declare module 'pots' {",
      '  namespace Pots {',
      '    interface Kiln<T extends { a: 1 } = { a: 1 }> {',
      "      cone: 'low' | 'high';",
      '      fire(cone: number): void',
      '    }',
      '    /** @deprecated Use paint instead. */',
      '    function glaze(pot: string): void',
      '  }',
      '}',
    )
    const changes = compare([before], [after])
    expect(shorten(changes)).toEqual([
      'removed Pots.Wheel',
      'removed Pots.Kiln.door',
      'changed Pots.Kiln.fire',
      'deprecated Pots.glaze',
    ])
    expect(changes[0]?.lostNames).toEqual(expect.arrayContaining(['size', 'Speed', 'Pedal']))
    expect(changes[3]?.lines).toEqual(['Use paint instead.'])
    expect(compare([before], [{ ...before, path: 'other.d.ts' }])).toEqual([])
  })

  test('count if an API page mentions their names, and are internal otherwise', () => {
    const page = api('pots', '## `fire(kiln)`', ts('function fire(kiln: Kiln): void'))
    const file = (...members: string[]) =>
      declarations('kiln.d.ts', 'export interface Kiln {', ...members, '}', 'interface Hidden {', ...members, '}')
    expect(shorten(compare([page, file('cone: 1', 'door: 2')], [page, file('cone: 1')]))).toEqual(['removed Kiln.door'])
  })
})

test('a module that only `declare module` describes is compared beside API pages, but not one of another package', () => {
  const page = api('pot/extra', '## `glaze`', ts('const glaze: 1'))
  const file = (name: string): ComparedPage => ({
    path: 'typings.d.ts',
    markdown: `declare module 'pot' { export function ${name}(): void }\ndeclare module 'clay' { interface Clay { ${name}: 1 } }\n`,
    definitions: [],
  })
  expect(shorten(compare([page, file('fire')], [page, file('burn')]))).toEqual(['removed fire', 'added burn'])
})

test('a member that the signature of its owner still contains is not removed', () => {
  const before = api(
    'pots',
    '## `Kiln`',
    ts('interface Kiln'),
    '### `Kiln.door`',
    ts('door: { left: 1 }'),
    '- `left: 1`',
  )
  const after = api('pots', '## `Kiln`', ts('interface Kiln'), '### `Kiln.door`', ts('door: { left: 1 }'))
  expect(shorten(compare([before], [after]))).toEqual([])
})

describe('the order of changes', () => {
  test('what users call comes before types, and internal names come last', () => {
    const before = api(
      'pot',
      '## `KilnDef`',
      ts('interface KilnDef { size: number }'),
      '## `$core`',
      ts('function $core(): void'),
      '## `glaze(pot)`',
      ts('function glaze(pot: string): void'),
      '## `fire(pot)`',
      ts('function fire(pot: string): void'),
      '## `kept`',
      ts('const kept: 1'),
    )
    const readme = page('README.md', '# Pot', 'Call `fire(pot)`.')
    const changes = compare([before, readme], [api('pot', '## `kept`', ts('const kept: 1')), readme])
    expect(shorten(changes)).toEqual(['removed fire', 'removed glaze', 'removed KilnDef', 'removed $core'])
  })

  test('a name in another namespace of the same module has neither moved nor gone', () => {
    const before = api('pot', '## `p.core.fire(pot)`', ts('function fire(pot: string): void'))
    const after = api('pot', '## `core.fire(pot)`', ts('function fire(pot: string): void'))
    const other = api('pot/v1', '## `p.core.fire(pot)`', ts('function fire(pot: string): void'))
    expect(shorten(compare([before], [after, other])).filter((one) => !one.startsWith('added'))).toEqual([])
  })
})
