import { expect, test } from 'vitest'
import { convertWith, fragmentAt, markdownOf, pageOf, readSample } from '../../../test/documents/convert.ts'
import { pptxParagraph as p, pptx, pptxShape as shape, pptxSlide as slide } from '../../../test/documents/written.ts'
import { convertPptx } from './pptx.ts'

test('converts a presentation written by LibreOffice', async () => {
  const page = await pageOf(convertPptx, readSample('talk.pptx'))
  expect(page.markdown).toBe(`# Lights of the coast

## Lights of the coast

- Forty towers
  - nine are **manned**
- See [the list](https://lights.example/list)

**Notes**

> Begin with the storm of 1953.

## Ranges

| Tower | Miles |
| --- | --- |
| North Head | 21 |

Measured on clear nights.
`)
  expect([fragmentAt(page, '- See'), fragmentAt(page, 'Measured')]).toEqual(['#slide=1', '#slide=2'])
})

test('converts placeholders, numbers and groups, and drops content that every slide repeats', async () => {
  const bytes = pptx(
    slide(
      `${shape('<p:ph type="ctrTitle"/>', p('Title') + p('of two lines'))}${shape('<p:ph type="sldNum"/>', p('7'))}
      <p:grpSp>${shape('', p('one', '<a:pPr><a:buAutoNum type="arabicPeriod" startAt="4"/></a:pPr>') + p('two', '<a:pPr><a:buAutoNum/></a:pPr>'))}</p:grpSp>
      ${shape('<p:ph type="body"/>', p('item') + p('plain', '<a:pPr><a:buNone/></a:pPr>'))}
      <p:pic><p:nvPicPr><p:cNvPr descr="A chart of ships"/></p:nvPicPr></p:pic>`,
    ),
    slide(shape('', p('hidden')), 'show="0"'),
    slide(shape('', p('No title'))),
  )
  expect(await markdownOf(convertPptx, bytes)).toBe(
    '## Title of two lines\n\n4. one\n5. two\n\n- item\n\nplain\n\nA chart of ships\n\n## Slide 3\n\nNo title\n\nHidden slides, left out: 1.\n',
  )
})

test('explains why a presentation has no page', async () => {
  expect(await convertWith(convertPptx, pptx(slide('')))).toMatchObject({ type: 'refused', reason: 'empty' })
  expect(await convertWith(convertPptx, readSample('talk.pptx').subarray(0, 5000))).toMatchObject({ reason: 'damaged' })
  expect(await convertWith(convertPptx, pptx('<!DOCTYPE a [<!ENTITY e "x">]><a/>'))).toMatchObject({
    reason: 'damaged',
    detail: 'it defines entities of its own, which are not resolved',
  })
})
