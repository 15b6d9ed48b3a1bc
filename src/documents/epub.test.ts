import { expect, test } from 'vitest'
import { archive, convertWith, extract, readSample } from '../../test/documents/convert.ts'
import { epub } from '../../test/documents/written.ts'
import { convertEpub } from './epub.ts'

test('a book has one part per chapter with text, named by the table of contents', async () => {
  const converted = await convertWith(convertEpub, readSample('book.epub'))
  const parts = converted.type === 'parts' ? converted.parts : []
  expect(parts.map(({ body, ...about }) => about)).toEqual([
    {
      name: 'winter.xhtml',
      title: 'Winter',
      author: 'Noor Haddad',
      language: 'en',
      modifiedAt: '2026-03-04T09:30:00Z',
    },
    {
      name: 'summer%20months.xhtml',
      title: 'Summer',
      author: 'Noor Haddad',
      language: 'de',
      modifiedAt: '2026-03-04T09:30:00Z',
    },
  ])
  const [winter, summer] = parts.map(extract)
  expect(winter?.markdown).toBe(`# Winter

In winter the lamp burns for sixteen hours.[^1] See summer and [the society](https://lights.example/).

## The storm

- Close the shutters

- Tie the boat

  3. twice

\`\`\`sh
lamp --level 9
lamp --hold
\`\`\`

| Hour | Wind |
| --- | --- |
| 21 | 9 |
| 21 | 10 |

[^1]: Measured in 1953.
`)
  expect(winter?.sections[0]?.children[0]?.anchor).toBe('the-storm')
  expect(summer?.markdown).toBe('# Summer\n\nIm Sommer bleibt die Lampe aus.\n')
})

test('a chapter of an older book is named by the first link to it in the separate table of contents', async () => {
  const ncx =
    '<ncx><navMap><navPoint><navLabel><text>First</text></navLabel><content src="a.xhtml"/><navPoint><navLabel><text>Inner</text></navLabel><content src="a.xhtml#x"/></navPoint></navPoint></navMap></ncx>'
  const converted = await convertWith(
    convertEpub,
    epub({ 'a.xhtml': '<p>a</p>', 'b.xhtml': '<h2>Second</h2>' }, { 'b/toc.ncx': ncx }),
  )
  expect(converted.type === 'parts' ? converted.parts.map(({ title }) => title) : []).toEqual(['First', 'Second'])
})

test('drops scripts, forms and external addresses, and escapes attribute values', async () => {
  const body = `<p onclick="run()" id="&quot;&gt;&lt;b" style="x">a<script>run()</script><iframe src="https://a.example/"/><a href="javascript:run()">b</a><img src="https://a.example/p.png" alt="A tower"/></p><form><p>fill in</p></form><svg><script>run()</script></svg>`
  const converted = await convertWith(convertEpub, epub({ 'a.xhtml': body }))
  expect(converted.type === 'parts' ? converted.parts[0]?.body.text : '').toBe(
    '<p id="&quot;&gt;&lt;b">a<a>b</a><img alt="A tower"></p>',
  )
})

test('explains why a book has no page, or which chapters were left out', async () => {
  const encryption =
    '<encryption><EncryptedData><CipherData><CipherReference URI="b/a.xhtml"/></CipherData></EncryptedData></encryption>'
  expect(
    await convertWith(convertEpub, epub({ 'a.xhtml': 'x' }, { 'META-INF/encryption.xml': encryption })),
  ).toMatchObject({
    reason: 'encrypted',
  })
  expect(await convertWith(convertEpub, epub({ 'a.xhtml': '<img src="a.png"/>' }))).toMatchObject({ reason: 'empty' })
  expect(await convertWith(convertEpub, archive({ a: '' }))).toMatchObject({
    reason: 'damaged',
    detail: 'it has no book in it',
  })
  expect(await convertWith(convertEpub, readSample('book.epub').subarray(0, 1500))).toMatchObject({ reason: 'damaged' })
  const laughs = '<!DOCTYPE html [<!ENTITY a "ha">]><html><body>&a;</body></html>'
  expect(await convertWith(convertEpub, epub({ 'a.xhtml': '' }, { 'b/a.xhtml': laughs }))).toMatchObject({
    reason: 'damaged',
  })
  const partly = epub({ 'a.xhtml': '<p>Lit.</p>', 'b.xhtml': '' }, { 'b/b.xhtml': laughs })
  expect(await convertWith(convertEpub, partly)).toMatchObject({
    parts: [{ name: 'a.xhtml' }],
    detail: 'left out, because they cannot be read: b.xhtml',
  })
  expect(await convertWith(convertEpub, epub({ 'a.xhtml': '<div>'.repeat(5000) }))).toMatchObject({
    reason: 'too-large',
  })
})
