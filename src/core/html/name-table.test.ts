import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NameTable } from './name-table.ts'

test('NameTable creates one value for each name and finds it again, even among many similar names', () => {
  const name = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', 'A', 'é', '\u{1f600}', '\0') })
  fc.assert(
    fc.property(fc.array(name, { maxLength: 100 }), (names) => {
      const createdNames: string[] = []
      const table = new NameTable((written) => {
        createdNames.push(written)
        return written.toUpperCase()
      })
      const source = names.join('')
      let at = 0
      for (const written of names) {
        expect(table.at(source, at, at + written.length)).toBe(written.toUpperCase())
        expect(table.get(written)).toBe(written.toUpperCase())
        at += written.length
      }
      expect(createdNames).toEqual([...new Set(names)])
    }),
  )
})
