import { expect, test } from 'vitest'
import { DocumentError } from './document.ts'
import { parseXml } from './xml-tree.ts'

const parse = (xml: string) => parseXml(new TextEncoder().encode(xml))

function refusal(xml: string): string {
  try {
    parse(xml)
  } catch (error) {
    if (error instanceof DocumentError) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'none'
}

test('reads elements and attributes by their local names', () => {
  const root = parse(
    '<?xml version="1.0"?><w:a xmlns:w="x" id="1" r:id="2"><w:b w:val="&lt;&#x41;&amp;"/>t&quot;<b>u</b></w:a>',
  )
  expect([root.name, root.attribute('id'), root.prefixed('id'), root.attribute('none')]).toEqual([
    'a',
    '1',
    '2',
    undefined,
  ])
  expect([...root.elements('b')].map((b) => b.attribute('val') ?? b.text)).toEqual(['<A&', 'u'])
  expect([root.text, root.find('b')?.name, root.find('b', 'c')]).toEqual(['t"u', 'b', undefined])
  expect([...root.descendants()].map(({ name }) => name)).toEqual(['b', 'b'])
})

test('an element may have more children than a call may have arguments', () => {
  expect([...parse(`<a>${'<b/>'.repeat(150_000)}</a>`).descendants()]).toHaveLength(150_000)
})

test('keeps CDATA literally, and decodes HTML entities', () => {
  expect(parse('<a><![CDATA[&amp;<b>]]>&nbsp;&eacute;&unknown;</a>').text).toBe('&amp;<b>\u00a0é&unknown;')
})

test.each([
  ['UTF-16 with a byte order mark', Uint8Array.of(0xff, 0xfe, ...Buffer.from('<a>ž</a>', 'utf16le')), 'ž'],
  [
    'the declared code page',
    Uint8Array.from(Buffer.from('<?xml version="1.0" encoding="windows-1250"?><a>\u009e</a>', 'latin1')),
    'ž',
  ],
  ['an unknown encoding as UTF-8', new TextEncoder().encode('<?xml version="1.0" encoding="x-none"?><a>ž</a>'), 'ž'],
])('decodes %s', (_, bytes, text) => {
  expect(parseXml(bytes).text).toBe(text)
})

test('refuses entity definitions, and loads no external DTD', () => {
  const laughs = `<!DOCTYPE a [<!ENTITY l0 "ha">${Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')}]><a>&l9;</a>`
  expect(refusal(laughs)).toBe('damaged: it defines entities of its own, which are not resolved')
  expect(refusal('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>')).toMatch(/^damaged/)
  expect(refusal('<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd" [ <!ENTITY % p SYSTEM "x"> %p; ]><a/>')).toMatch(
    /^damaged/,
  )
  expect(parse('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://127.0.0.1:1/a.dtd"><a>b</a>').text).toBe('b')
})

test('refuses deep nesting, and reads truncated XML', () => {
  expect(refusal('<a>'.repeat(300))).toBe('too-large: its elements are nested more than 200 levels deep')
  expect(parse('<a><b>c').text).toBe('c')
  expect(refusal('no XML')).toBe('damaged: it has no XML where XML is expected')
})
