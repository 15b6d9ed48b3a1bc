import { describe, expect, test } from 'vitest'
import { extract } from '../../test/documents/convert.ts'
import type { TextDocument } from './document.ts'
import { convertNotebook } from './notebook.ts'

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

async function read(notebook: unknown): Promise<TextDocument> {
  return (await convertNotebook(encode(notebook), 'x.ipynb')) as TextDocument
}

const python = { kernelspec: { language: 'python' }, language_info: { name: 'python' } }
const code = (source: string, outputs: unknown[] = []) => ({ cell_type: 'code', source, outputs })
const markdown = (source: string | string[]) => ({ cell_type: 'markdown', source })

describe('notebook cells', () => {
  test("text cells stay unchanged, and code cells become fences with the kernel's language", async () => {
    const cells = [markdown(['# Fit\n', '\n', 'A *line*.\n']), code('import numpy as np\nnp.ones(3)')]
    const { body } = await read({ nbformat: 4, metadata: python, cells })
    expect(body).toEqual({
      form: 'markdown',
      text: '# Fit\n\nA *line*.\n\n```python\nimport numpy as np\nnp.ones(3)\n```\n',
    })
  })

  test('the title and the authors are read', async () => {
    const metadata = { title: 'Fit', authors: [{ name: 'Ada' }, { name: 'Grace' }, {}] }
    const document = await read({ metadata, cells: [code('1')] })
    expect(document).toMatchObject({ title: 'Fit', author: 'Ada, Grace' })
    const about = { ...document, language: 'fr', modifiedAt: '2024-05-01' }
    expect(extract(about)).toMatchObject({
      title: 'Fit',
      author: 'Ada, Grace',
      language: 'fr',
      modifiedAt: '2024-05-01',
    })
  })

  test('version 3 cells are read from worksheets', async () => {
    const cells = [
      { cell_type: 'heading', level: 2, source: ['Old'] },
      { cell_type: 'code', language: 'julia', input: ['f(x)'], outputs: [{ output_type: 'pyout', text: ['3'] }] },
    ]
    const { body } = await read({ nbformat: 3, worksheets: [{ cells }] })
    expect(body.text).toBe('## Old\n\n```julia\nf(x)\n```\n\nOutput:\n\n```\n3\n```\n')
  })

  test('cells cannot break out of their fences', async () => {
    const { body } = await read({ cells: [markdown('```js\nopen'), code('x = """\n````\n"""'), markdown('after')] })
    expect(body.text).toBe('```js\nopen\n```\n\n`````\nx = """\n````\n"""\n`````\n\nafter\n')
  })

  test('a cell that another program runs has the language of that program', async () => {
    expect((await read({ metadata: python, cells: [code('%%bash\nls')] })).body.text).toContain('```bash\n%%bash\nls')
  })
})

describe('notebook outputs', () => {
  test('outputs are kept as text, without colors and overwritten lines', async () => {
    const outputs = [
      { output_type: 'stream', name: 'stdout', text: ['10 %\r', '100 %\n', '\u001b[31mred\u001b[0m\n'] },
      { output_type: 'execute_result', data: { 'text/plain': ['array([1.])'], 'text/html': '<b>table</b>' } },
      { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: ['\u001b[0;31m…'] },
    ]
    const { body } = await read({ cells: [code('go()', outputs)] })
    expect(body.text).toBe('```\ngo()\n```\n\nOutput:\n\n```\n100 %\nred\narray([1.])\nValueError: no\n```\n')
  })

  test('pieces of a stream are joined into one text', async () => {
    const piece = (text: string, name = 'stdout') => ({ output_type: 'stream', name, text })
    const { body } = await read({
      cells: [code('go()', [piece('1\n'), piece('2'), piece('3\n'), piece('no', 'stderr')])],
    })
    expect(body.text).toContain('```\n1\n23\nno\n```')
  })

  test('HTML, scripts and images are dropped', async () => {
    const data = {
      'text/html': '<script>steal()</script>',
      'application/javascript': 'steal()',
      'image/png': 'iVBORw0',
    }
    const cells = [code('show()', [{ output_type: 'display_data', data }]), markdown('![chart](attachment:a.png) here')]
    expect((await read({ cells })).body.text).toBe('```\nshow()\n```\n\nchart here\n')
  })

  test('long outputs are truncated', async () => {
    const outputs = [{ output_type: 'stream', text: 'x'.repeat(50_000) }]
    const { body } = await read({ cells: [code('log()', outputs)] })
    expect(body.text.length).toBeLessThan(5000)
    expect(body.text).toContain('… (46,000 further characters)')
  })
})

describe('convertNotebook with an invalid notebook', () => {
  test.each([
    ['{"cells": [', 'not JSON'],
    ['[]', 'no cells'],
    ['{}', 'no cells'],
    ['{"cells": "x"}', 'no cells'],
  ])('refuses %s', (text, reason) => {
    expect(() => convertNotebook(new TextEncoder().encode(text), 'x.ipynb')).toThrow(reason)
  })
})
