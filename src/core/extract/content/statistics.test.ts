import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { find } from '../../html/selector.ts'
import { countStatistics } from './statistics.ts'

const SENTENCE = 'A sentence that is long enough to be one and says a little.'

function count(html: string) {
  const root = parseHtml(html)
  const body = find(root, ({ name }) => name === 'div') ?? root
  return countStatistics(root).get(body)
}

describe('countStatistics', () => {
  test('counts a run of white space as one character and ignores scripts and styles', () => {
    expect(count('<div> a \n\t b <script>var c</script><style>d {}</style></div>').textLength).toBe(4)
  })

  test('distinguishes sentences from labels', () => {
    expect(count(`<div><p>${SENTENCE}</p><p>Label</p></div>`)).toMatchObject({ proseLength: SENTENCE.length })
  })

  test('counts text across inline elements as one sentence, and text split by a block as two labels', () => {
    const [start, end] = [SENTENCE.slice(0, 29), SENTENCE.slice(29)]
    expect(count(`<div>${start}<b>${end}</b></div>`).proseLength).toBe(SENTENCE.length)
    expect(count(`<div>${start}<p>${end}</p></div>`).proseLength).toBe(0)
  })

  test('counts a sentence in a link as a label, not as prose', () => {
    expect(count(`<div><p><a href="/x">${SENTENCE}</a></p></div>`)).toMatchObject({
      proseLength: 0,
      linkLength: SENTENCE.length,
      linkCount: 1,
    })
  })

  test('counts code as prose, however short', () => {
    expect(count('<div><pre>x = 1</pre></div>')).toMatchObject({ proseLength: 5, codeBlockCount: 1 })
  })

  test('counts an ideograph as several letters', () => {
    expect(count('<div><p>これは文章です。もう少し長くしましょう。</p></div>').proseLength).toBeGreaterThan(50)
  })

  test('ignores dropped elements', () => {
    const root = parseHtml('<div><p>kept</p><p id="gone">gone</p></div>')
    const gone = find(root, ({ id }) => id === 'gone')
    if (gone !== undefined) gone.dropped = { step: 'test', reason: 'test' }
    expect(countStatistics(root).get(root).textLength).toBe('kept'.length)
  })
})
