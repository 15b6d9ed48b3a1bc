import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '../../src/core/model.ts'
import { convertDocument, formatOf } from '../../src/documents/formats.ts'
import { isLong } from '../faults/bounded.ts'
import { extract } from './convert.ts'

/* Real documentation of other projects. Debian packages are downloaded only in a long run. */

interface RealPage {
  readonly format: string
  readonly page: Page
  readonly headings: readonly string[]
}

/** Converts a file to a page; its format follows from its name and bytes alone. */
async function read(path: string): Promise<RealPage> {
  const bytes = new Uint8Array(readFileSync(path))
  const format = formatOf(basename(path), bytes)
  if (format === undefined) throw new Error(`The format of ${path} is not known`)
  const converted = await convertDocument(format, bytes, basename(path))
  if (converted.type !== 'document') throw new Error(`${path} became ${JSON.stringify(converted)}`)
  const page = extract(converted)
  return { format: format.name, page, headings: page.markdown.match(/^#+ .*/gm) ?? [] }
}

test("Node's own manual page has its sections, options and variables", async () => {
  const { format, page, headings } = await read(join(dirname(dirname(process.execPath)), 'share/man/man1/node.1'))
  expect(format).toBe('man page')
  expect(headings).toEqual(expect.arrayContaining(['## SYNOPSIS', '## OPTIONS', '## ENVIRONMENT', '## BUGS']))
  expect(page.markdown).toContain('**--abort-on-uncaught-exception**')
  expect(page.markdown).toMatch(/`?NODE_EXTRA_CA_CERTS/)
  expect(page.markdown).not.toMatch(/^\.[A-Z][a-z] /m)
})

if (isLong) {
  describe('documentation of Debian packages', () => {
    let folder = ''
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'pharos-debian-'))
      for (const name of ['git-doc', 'python3.11-doc', 'zlib1g-dev', 'openssh-client', 'python-nbsphinx-doc'])
        unpack(name)
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    /** Unpacks a Debian package without installing it. */
    function unpack(name: string): void {
      try {
        // apt's download user could not write to this folder, so root downloads.
        execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', name], { cwd: folder, stdio: 'pipe' })
        execFileSync('sh', ['-c', `dpkg-deb -x ${name}_*.deb .`], { cwd: folder })
      } catch (cause) {
        throw new Error(`this needs apt-get and the package ${name} of Debian 12`, { cause })
      }
    }
    const readDoc = (path: string): Promise<RealPage> => read(join(folder, 'usr/share', path))

    test('reStructuredText of Python keeps the module, its functions, a box and an example', async () => {
      const { format, page, headings } = await readDoc('doc/python3.11/html/_sources/library/colorsys.rst.txt')
      expect(format).toBe('reStructuredText')
      expect(headings).toEqual(['# `colorsys` — Conversions between color systems'])
      expect(page.markdown).toContain('\n> [!NOTE]\n> **See also**\n>\n> More information about color spaces')
      expect(page.markdown).toContain('\n`colorsys.rgb_to_yiq(r, g, b)`\n\nConvert the color from RGB')
      expect(page.markdown).toContain('```pycon\n>>> import colorsys\n>>> colorsys.rgb_to_hsv(0.2, 0.4, 0.4)\n')
    })

    test('reStructuredText of Python keeps its tables', async () => {
      const { page } = await readDoc('doc/python3.11/html/_sources/library/struct.rst.txt')
      expect(page.markdown).toMatch(/^\| Character \| Byte order \| Size \| Alignment \|$/m)
    })

    test('AsciiDoc of Git in a plain text file keeps synopsis, options and code', async () => {
      const { format, page, headings } = await readDoc('doc/git-doc/git-stripspace.txt')
      expect(format).toBe('AsciiDoc')
      const parts = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXAMPLES', 'GIT']
      expect(headings).toEqual(expect.arrayContaining(['# git-stripspace(1)', ...parts.map((part) => `## ${part}`)]))
      expect(page.markdown).toContain('```\ngit stripspace [-s | --strip-comments]\n')
      expect(page.markdown).toContain('\n- remove trailing whitespace from all lines\n')
    })

    test('a compressed manual page keeps its title, sections and lists', async () => {
      const { format, page, headings } = await readDoc('man/man3/zlib.3.gz')
      expect(format).toBe('man page')
      expect(page).toMatchObject({ title: 'zlib(3)', modifiedAt: '2022-10-13' })
      expect(headings.slice(0, 5)).toEqual(['# zlib(3)', '## NAME', '## SYNOPSIS', '## DESCRIPTION', '## SEE ALSO'])
      expect(page.markdown).toContain('## NAME\n\nzlib - compression/decompression library\n')
    })

    test('a compressed manual page that begins with its license is read without it', async () => {
      const { page, headings } = await readDoc('man/man1/ssh-copy-id.1.gz')
      expect(headings).toContain('## SYNOPSIS')
      expect(page.markdown).not.toContain('Redistribution and use')
    })

    test('a notebook keeps its texts, and its code with the language', async () => {
      const { format, page, headings } = await readDoc(
        'doc/python-nbsphinx/html/_sources/gallery/multiple-outputs.ipynb',
      )
      expect(format).toBe('Jupyter notebook')
      expect(headings).toEqual(['# Choosing from Multiple Outputs'])
      expect(page.markdown).toContain('```python\nfrom IPython.display import Image\n')
    })
  })
}
