import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { convertWith, fragmentAt, markdownOf, pageOf, readSample } from '../../test/documents/convert.ts'
import { pdfLines as lines, pdfPages as pages, pdf } from '../../test/documents/written.ts'
import { convertPdf } from './pdf.ts'

const LONG = process.env['TEST_LONG'] === '1'

const refusalOf = async (bytes: Uint8Array): Promise<string> => {
  const converted = await convertWith(convertPdf, bytes)
  return converted.type === 'refused' ? `${converted.reason}: ${converted.detail}` : converted.type
}

test('converts two columns set by TeX: paragraphs, headings, lists, code, a table, a note and links, with page marks', async () => {
  const converted = await convertWith(convertPdf, readSample('paper.pdf'))
  expect(converted).toMatchObject({
    type: 'document',
    title: 'On the Range of Lights',
    author: 'Noor Haddad',
    language: 'en-GB',
    modifiedAt: '2026-03-04T09:30:00Z',
  })
  const page = await pageOf(convertPdf, readSample('paper.pdf'))
  expect(page.markdown).toBe(`# On the Range of Lights

Noor Haddad

March 2026

## 1 Introduction

A light is seen as far as its height and the height of the eye allow. The classical estimate is good on clear nights, and every keeper knows it by heart. What follows explains how it was measured along the northern shore, where towers stand close to each other and the approximation of a level horizon is not justified.

Sailors have long distinguished the geographical range from the luminous range. The former depends on the curvature of the earth alone; the latter on the transparency of the atmosphere. Both are printed in the list of lights, although they are seldom distinguished there, which has misled navigators more often than extraordinary weather ever did.

The society’s instructions are public.[^1] They can be read at [the address of the society](https://lights.example/rules).

### 1.1 Terms

By **range** we mean the distance at which a light disappears below the horizon for an observer whose eye is five metres above the water.

The steps are these:

- Measure the height of the lamp.
- Measure the height of the eye, which is the more difficult of the two on a ship that rolls.
- Add both square roots.

Then, in order:

1. Write the sum down.
2. Multiply it by two and a bit.

## 2 Method

The computation takes a few lines of code:

\`\`\`
def range_of(height, eye):
    root = height ** 0.5
    other = eye ** 0.5
    return 2.08 * (root + other)
\`\`\`

It was run for each of the towers.

| Tower | Height | Range |
| --- | --- | --- |
| North Head | 84 | 23.7 |
| Black Rock | 36 | 17.1 |
| Old Pier | 12 | 11.9 |

The numbers agree with those of the keepers, who determined them independently and without instruments of any kind during the winter.

## 3 Results

### 3.1 Clear nights

On clear nights all lights were seen at the computed distance. The differences were smaller than a tenth of a mile, which is less than the uncertainty of the positions themselves.

### 3.2 Fog

In fog the computation says nothing. A red lamp disappeared at two miles, a white lamp at three, and the green lamp of the old pier could not be seen from the end of the pier on which it stands.

## 4 Conclusion

The classical estimate may be kept. Keepers should note the weather beside each observation, so that others can repeat it.

[^1]: They were last revised in 1998 and are kept in the archive.
`)
  const at = (start: string) => fragmentAt(page, start)
  expect([at('Sailors'), at('| Old Pier'), at('In fog'), at('## 4'), at('[^1]')]).toEqual([
    '#page=1',
    '#page=1',
    '#page=2',
    '#page=2',
    '#page=1',
  ])
})

test('converts a LibreOffice document without repeated headers and footers', async () => {
  const page = await pageOf(convertPdf, readSample('guide.pdf'))
  expect(page.markdown.split('\n').filter((line) => line !== '')).toEqual([
    '# Lighthouse Guide',
    'A lighthouse shows **where land begins** and *how to pass it*. Its manual is kept by the [society of keepers](https://lights.example/keepers).[^1]',
    '## The lamp',
    // The PDF shows deleted text as it is printed.
    'The lamp is lit at dusk withdrawn words and put out at dawn. Set the brightness with `lamp --level`.',
    '### Colours',
    '- White, for the open sea',
    '- Red, for danger',
    '  - rocks',
    '  - shoals',
    '- Green, for the harbour',
    '#### Lighting it',
    '1. Trim the wick.',
    '2. Open the valve.',
    '   1. Half a turn first.',
    '   2. Then the rest.',
    '3. Light it.',
    '## The log',
    'Every night is written down in a table.',
    '| Night | Weather | Ships |',
    '| --- | --- | --- |',
    '| Monday | Fog | 3 |',
    '| | Clear | 17 |',
    '| Tuesday | Storm, no watch | |',
    '### Reading it by machine',
    'This prints all nights with fog:',
    '```',
    'for night in log:',
    '    if night.weather == "fog":',
    '        print(night)',
    '```',
    'The tower is drawn below.',
    expect.stringMatching(/^Žluťoučký kůň, Größe und /),
    '[^1]: Founded in 1871, dissolved twice.',
  ])
  expect([fragmentAt(page, '3. Light it'), fragmentAt(page, 'The tower')]).toEqual(['#page=1', '#page=2'])
})

test('joins a sentence across pages, and marks the page at the next block', async () => {
  const page = await pageOf(
    convertPdf,
    pdf(
      pages(
        lines(
          'This line fills the width of the column that it stands in here',
          'and this sentence ends on the following',
        ),
        lines('page of the document.', '', '', 'Another paragraph is here.'),
      ),
    ),
    'docs/no title.pdf',
  )
  expect(page.markdown).toBe(
    '# no title\n\nThis line fills the width of the column that it stands in here and this sentence ends on the following page of the document.\n\nAnother paragraph is here.\n',
  )
  expect([fragmentAt(page, 'This line'), fragmentAt(page, 'Another')]).toEqual(['#page=1', '#page=2'])
})

test('drops page numbers and running titles, also when they change', async () => {
  const texts = Array.from({ length: 6 }, (_, i) => {
    const part = i < 3 ? 'Storms' : 'Calm'
    return `BT /F 10 Tf 1 0 0 1 50 770 Tm (Part ${i < 3 ? 1 : 2}: ${part} ${i + 11}) Tj ET\n${lines(`Text number ${'abcdef'[i]} of this document.`)}\nBT /F 10 Tf 1 0 0 1 300 30 Tm (- ${i + 1} -) Tj ET`
  })
  const markdown = await markdownOf(convertPdf, pdf(pages(...texts)))
  expect(markdown).not.toMatch(/Part|- \d -/)
  expect(markdown.match(/Text number/g)?.length).toBe(6)
})

test('drops a table of contents, and with it a page that has little else', async () => {
  const entries = [
    'Chapter one 3',
    '1.1 Lamps . . . . . . . . 3',
    '1.2 Oil . . . . . . . . 4',
    '1.3 Glass . . . . . . 5',
  ]
  const markdown = await markdownOf(convertPdf, pdf(pages(lines(...entries), lines('Lamps need oil.'))))
  expect(markdown).not.toMatch(/Oil|Chapter/)
  expect(markdown).toContain('Lamps need oil.')
})

test('drops lines of dots with a roman page number, and reads those without a number in linear time', async () => {
  const entries = ['Preface', 'Lamps', 'Oil'].map((title) => `${title} ${'. '.repeat(40)}iii`)
  const markdown = await markdownOf(convertPdf, pdf(pages(lines(...entries, `Glass ${'. '.repeat(40)}none`))))
  expect(markdown).not.toMatch(/Preface|Lamps|Oil/)
})

describe('convertPdf with unreadable documents', () => {
  test('refuses an encrypted document, and one without text', async () => {
    expect(await refusalOf(readSample('locked.pdf'))).toBe('encrypted: it is encrypted with a password')
    expect(await refusalOf(readSample('scan.pdf'))).toBe(
      'empty: there is no text on its page, only pictures, which are not read',
    )
  })

  test('refuses truncated files and other formats', async () => {
    expect(await refusalOf(readSample('paper.pdf').subarray(0, 2000))).toBe('damaged: it is not a readable PDF')
    expect(await refusalOf(readSample('guide.docx'))).toBe('damaged: it is not a readable PDF')
    expect(await refusalOf(new Uint8Array())).toBe('damaged: it is not a readable PDF')
  })

  test('refuses a document with too many pages', async () => {
    const [catalog = '', , ...rest] = pages(lines('text'))
    const kids = `4 0 R ${'4 0 R '.repeat(10_000)}`
    const bytes = pdf([catalog, `<</Type/Pages/Kids[${kids}]/Count 10001>>`, ...rest])
    expect(await refusalOf(bytes)).toBe('too-large: it has 10001 pages, more than 10000')
  })
})

describe('convertPdf with hostile documents', () => {
  test.each([
    ['with a cross-reference table', true],
    ['without a cross-reference table', false],
  ])('reads a document with very many objects, %s', async (_, hasTable) => {
    const objects = [...pages(lines('The one line of text.')), ...Array<string>(LONG ? 1_000_000 : 20_000).fill('null')]
    expect(await markdownOf(convertPdf, pdf(objects, hasTable), 'a.pdf')).toBe('# a\n\nThe one line of text.\n')
  })

  test('survives pages that contain themselves, actions and scripts', async () => {
    const [, , font = '', page = '', content = ''] = pages(lines('Still some text.'))
    const catalog =
      '<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL\\("http://127.0.0.1:1/"\\))>>>>'
    const bytes = pdf([catalog, '<</Type/Pages/Kids[2 0 R 4 0 R]/Count 2>>', font, page, content])
    expect(await refusalOf(bytes)).toMatch(/^(?:document|damaged: )/)
  })

  test('refuses a page with too much text without reading all of it', async () => {
    const [catalog = '', tree = '', font = '', page = '', content = ''] = pages(LONG ? '/X Do' : '/X Do '.repeat(30))
    const drawing = page.replace('/Font', '/XObject<</X 6 0 R>>/Font')
    const text = 'BT /F 10 Tf 1 0 0 1 9 9 Tm (x) Tj 20 0 Td (y) Tj ET '
    // Each form draws the next one ten times, so the first of eight expands to ten million.
    const contents = LONG ? [...Array<string>(7).fill('/X Do '.repeat(10)), text] : [text.repeat(400)]
    const forms = contents.map((form, i) => {
      const resources = `<</Font<</F 3 0 R>>/XObject<</X ${7 + i} 0 R>>>>`
      return `<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources${resources}/Length ${form.length}>>stream\n${form}\nendstream`
    })
    expect(await refusalOf(pdf([catalog, tree, font, drawing, content, ...forms]))).toBe(
      'too-large: page 1 has more than 20000 pieces of text',
    )
  })
})

describe('the streams of a PDF', () => {
  const TEXT = lines('Quiet text.')
  const [catalogue = '', tree = '', font = '', page = ''] = pages('')
  /** A PDF whose page has this content, deflated as often as given. */
  const deflated = (content: string | Uint8Array, times = 1): Uint8Array => {
    let packed = Buffer.from(content)
    for (let i = 0; i < times; i++) packed = deflateSync(packed, { level: 9 })
    const filters = `/ASCIIHexDecode${'/FlateDecode'.repeat(times)}`
    const stream = `<</Length ${2 * packed.length + 1}/Filter[${filters}]>>stream\n${packed.toString('hex')}>\nendstream`
    return pdf([catalogue, tree, font, page, stream])
  }
  /** The text and spaces, with random comments between them that make it less compressible. */
  const pad = (size: number, commentLength = 0): string => {
    let random = 1
    const next = () => {
      random = (random * 48_271) % 2_147_483_647
      return random.toString(36).padStart(6, '0')
    }
    const block = () => `%${Array.from({ length: commentLength / 6 }, next).join('')}\n`.padEnd(16_384)
    return `${TEXT}\n${Array.from({ length: size / 16_384 }, block).join('')}`
  }
  const MEGABYTE = 1_048_576

  test('below 16 MB are read however compressible they are', async () => {
    expect(await refusalOf(deflated(pad(15 * MEGABYTE)))).toBe('document')
    expect(await refusalOf(deflated(pad(15 * MEGABYTE), 2))).toBe('document')
  })

  test('from 16 MB on are refused if they unpack to more than 200 times their size, at any filter', async () => {
    const ratioOf = (text: string) => text.length / deflateSync(text, { level: 9 }).length
    const [dense, fine] = [pad(20 * MEGABYTE, 78), pad(20 * MEGABYTE, 84)]
    expect([Math.floor(ratioOf(dense) / 10), Math.floor(ratioOf(fine) / 10)]).toEqual([20, 19])
    const refusal = 'too-large: a stream in it unpacks to more than 200 times its size'
    expect(await refusalOf(deflated(fine))).toBe('document')
    expect(await refusalOf(deflated(dense))).toBe(refusal)
    expect(await refusalOf(deflated(pad(20 * MEGABYTE), 3))).toBe(refusal)
  })

  test('are refused if they unpack to more than 256 MB', async () => {
    const sizes = LONG ? [255, 257] : [257]
    const outcomes = []
    for (const size of sizes) outcomes.push(await refusalOf(deflated(pad(size * MEGABYTE, 120))))
    const refusal = 'too-large: a stream in it unpacks to more than 256 MB'
    expect(outcomes).toEqual(LONG ? ['document', refusal] : [refusal])
  })

  test('that are too large do not spoil the next document', async () => {
    expect(await refusalOf(deflated(pad(20 * MEGABYTE)))).toContain('too-large')
    expect(await refusalOf(pdf(pages(TEXT)))).toBe('document')
  })
})
