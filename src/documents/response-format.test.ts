import { describe, expect, test } from 'vitest'
import { archive, readSample } from '../../test/documents/convert.ts'
import { formatOfResponse } from './response-format.ts'

/** The name of a response's format, by its path, media type and bytes. */
function formatOf(path: string, type: string, body: string | Uint8Array): string | undefined {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
  return formatOfResponse({ url: `https://docs.example${path}`, body: bytes, headers })?.name
}

const OPENAPI = 'openapi: 3.1.0\ninfo:\n  title: Tides\n'
const TEXT = 'Words, and more words.\n'

describe('formatOfResponse with bytes that have a signature', () => {
  test.each([
    ['guide.pdf', 'PDF'],
    ['guide.docx', 'Word document'],
    ['talk.pptx', 'PowerPoint presentation'],
    ['harbour.xlsx', 'Excel workbook'],
    ['guide.odt', 'OpenDocument text'],
    ['book.epub', 'EPUB'],
    ['guide.rtf', 'RTF'],
  ])('recognizes %s whatever the media type is', (sample, name) => {
    const bytes = readSample(sample)
    for (const type of ['', 'application/octet-stream', 'application/zip', 'text/plain', 'text/html'])
      expect(formatOf('/download', type, bytes)).toBe(name)
  })

  test('an archive with the name of a document is not a document', () => {
    const bytes = archive({ 'readme.txt': 'Words.' })
    expect(formatOf('/a.zip', 'application/zip', bytes)).toBeUndefined()
    expect(formatOf('/a.docx', 'application/zip', bytes)).toBeUndefined()
    // An EPUB without a mimetype member at the start.
    expect(formatOf('/a', 'application/zip', archive({ 'a.html': '', 'META-INF/container.xml': '<a/>' }))).toBe('EPUB')
  })
})

describe('formatOfResponse with bytes that have no signature', () => {
  test.each([
    ['application/pdf', 'PDF'],
    ['application/pdf; charset=binary', 'PDF'],
    ['Text/CSV; header=present', 'CSV'],
    ['text/x-rst', 'reStructuredText'],
    ['text/asciidoc', 'AsciiDoc'],
    ['application/x-ipynb+json', 'Jupyter notebook'],
    ['application/openapi+yaml', 'OpenAPI description'],
    ['application/vnd.oasis.opendocument.text', 'OpenDocument text'],
  ])('recognizes the media type %s', (type, name) => {
    expect(formatOf('/a', type, TEXT)).toBe(name)
  })

  test('JSON and YAML are OpenAPI only if their content is', () => {
    for (const type of ['application/json', 'application/yaml', 'text/x-yaml; charset=utf-8', 'application/x-yaml'])
      expect(formatOf('/v1/spec', type, OPENAPI)).toBe('OpenAPI description')
    expect(formatOf('/v1/spec', 'application/json', '{"swagger": "2.0"}')).toBe('OpenAPI description')
    expect(formatOf('/v1/spec', 'application/json', '{"swagger": true}')).toBeUndefined()
    expect(formatOf('/v1/spec', 'application/json', '{"a": 1}')).toBeUndefined()
  })
})

describe('formatOfResponse with a generic media type', () => {
  test.each([
    ['/a.rst', 'reStructuredText'],
    ['/a/Read%20me.ADOC?raw=1', 'AsciiDoc'],
    ['/notes.org', 'Org'],
    ['/table.tsv', 'CSV'],
    ['/a.ipynb', 'Jupyter notebook'],
  ])('recognizes %s by its name', (path, name) => {
    for (const type of ['', 'application/octet-stream', 'text/plain; charset=utf-8'])
      expect(formatOf(path, type, TEXT)).toBe(name)
    for (const type of ['text/html', 'text/markdown', 'image/png']) expect(formatOf(path, type, TEXT)).toBeUndefined()
  })

  test('the name does not override what the bytes show', () => {
    // A login page instead of the document.
    expect(formatOf('/a.rst', '', '<!DOCTYPE html><title>Log in</title>')).toBeUndefined()
    expect(formatOf('/a.pdf', 'text/plain', TEXT)).toBeUndefined()
    expect(formatOf('/release.asc', 'text/plain', '-----BEGIN PGP SIGNATURE-----\n')).toBeUndefined()
    expect(formatOf('/man1/ls.1', 'text/plain', 'LS(1)   User Commands\n')).toBeUndefined()
    expect(formatOf('/man1/ls.1', 'text/plain', '.\\" Made by hand\n.TH LS 1\n')).toBe('man page')
    expect(formatOf('/a.ipynb', 'application/json', '{"cells": []}')).toBe('Jupyter notebook')
    expect(formatOf('/api.yaml', 'text/plain', OPENAPI)).toBe('OpenAPI description')
    expect(formatOf('/compose.yaml', 'text/plain', 'services:\n  swagger:\n    image: x\n')).toBeUndefined()
    expect(formatOf('/a', 'text/plain', OPENAPI)).toBeUndefined()
  })

  test('a document without its signature keeps the format of its name, and so counts as damaged', () => {
    expect(formatOf('/a.pdf', 'application/octet-stream', TEXT)).toBe('PDF')
    expect(formatOf('/a.docx', '', new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]))).toBe('Word document')
  })
})

test('a response that is already decoded text is not a document', () => {
  const headers = { 'content-type': 'application/pdf' }
  expect(formatOfResponse({ url: 'https://docs.example/a.pdf', body: '# Words', headers })).toBeUndefined()
})
