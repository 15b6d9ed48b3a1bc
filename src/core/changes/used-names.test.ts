import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../text/order.ts'
import type { Change } from './change.ts'
import { isUsed, UsedNameCollector } from './used-names.ts'

function collect(name: string, ...files: string[]): UsedNameCollector {
  const used = new UsedNameCollector(name)
  for (const file of files) used.add(file)
  return used
}

const CHANGE: Change = {
  ...{ kind: 'removed', subject: 'symbol', name: '', newName: null, path: 'a', line: 1, isOldPage: true },
  ...{ before: null, after: null, lostNames: [], lines: [] },
}

describe('names that code uses of a package', () => {
  test('come from imports of every form', () => {
    const used = collect(
      'pot',
      `import pot, { fire as burn, type Kiln } from 'pot'\nburn({ slow: true }).then()`,
      `const { glaze, dry: wait } = require("pot/extra")`,
      `const pot = await import('pot')`,
      'from pot.kiln import Wheel, clay as c\nimport pot.deep',
    )
    expect([...used.imported].sort(compareUtf8)).toEqual(['Kiln', 'Wheel', 'clay', 'dry', 'fire', 'glaze', 'pot'])
    expect([...used.modules].sort(compareUtf8)).toEqual(['pot', 'pot.deep', 'pot.kiln', 'pot/extra'])
    expect(used.members.has('slow') && used.members.has('then')).toBe(true)
    expect(used.files).toBe(4)
  })

  test('leave out files that do not import it', () => {
    const used = collect('pot', `import { fire } from 'pottery'\nfire.slow()`, `const text = 'a pot'`, 'import potter')
    expect([used.files, used.imported.size, used.members.size]).toEqual([0, 0, 0])
  })

  test('read scoped packages', () => {
    expect([...collect('@a/pot', `import { x } from '@a/pot/sub'`).imported]).toEqual(['x'])
  })
})

describe('a change', () => {
  const used = collect('pot', `import { fire, z } from 'pot'\nfire(1, { slow: true }); z.object({}); new Kiln().open()`)
  const check = (change: Partial<Change>) => isUsed({ ...CHANGE, ...change }, used)

  test('concerns the code if it imports the symbol or mentions the member', () => {
    expect(check({ name: 'fire' })).toBe(true)
    expect(check({ name: 'object' })).toBe(true)
    expect(check({ name: 'Kiln.open' })).toBe(true)
    expect(check({ name: 'FireOptions.slow' })).toBe(true)
    expect(check({ name: 'glaze' })).toBe(false)
    expect(check({ name: 'Kiln.close' })).toBe(false)
    expect(check({ name: 'burn', before: 'burn(o: { slow?: boolean })', lostNames: ['slow'] })).toBe(true)
  })

  test('of a section concerns the code if it names an imported symbol', () => {
    expect(check({ subject: 'section', name: 'Firing', lines: ['- call fire()'] })).toBe(true)
    expect(check({ subject: 'section', name: 'Firing', lines: ['- call firefly()'] })).toBe(false)
  })

  test('of a module concerns the code that imports it', () => {
    expect(check({ subject: 'module', name: 'pot' })).toBe(true)
    expect(check({ subject: 'module', name: 'pot/extra' })).toBe(false)
  })
})
